import type { Config } from './config.ts';
import { type ConfigProblem, formatPath } from './config-problem.ts';
import { DEFAULT_PROJECT } from './default-project.ts';
import { priceOf } from './prices.ts';
import { projectOfSeed } from './project-problems.ts';
import { hasMoneyLimit, type SpendLimits } from './spend-limits.ts';

/**
 * Spend limits that could not be checked: in another currency, or in money for a model without a price. The model of an agent that names
 * none is known only after the start. A run of such an agent is refused if its model has no price.
 */
export function spendProblems(config: Config): readonly ConfigProblem[] {
  const { limits, agents } = config;
  const places: readonly (readonly [path: readonly (string | number)[], spend: SpendLimits | undefined])[] = [
    [['limits', 'agent', 'spend'], limits.agent?.spend],
    [['limits', 'person', 'spend'], limits.person?.spend],
    ...agents.map((agent, index) => [['agents', index, 'limits', 'spend'], agent.limits?.spend] as const),
    ...config.projects.map((project, index) => [['projects', index, 'spend'], project.spend] as const),
  ];
  return [...places.flatMap(([path, spend]) => currencyProblem(config, path, spend)), ...priceProblems(config)];
}

/** A limit in another currency than that of the prices. */
export function currencyProblem(
  { currency }: Pick<Config, 'currency'>,
  path: readonly (string | number)[],
  spend: SpendLimits | undefined,
): readonly ConfigProblem[] {
  if (spend?.currency === undefined || spend.currency === currency) return [];
  const message = `is ${spend.currency}, and the prices of the configuration are in ${currency}. Use one currency: write currency: '${spend.currency}' beside prices, or change the limit.`;
  return [{ path: formatPath([...path, 'currency']), message }];
}

function priceProblems(config: Config): readonly ConfigProblem[] {
  const { agents, limits, models, prices, projects } = config;
  const ofPerson = hasMoneyLimit(limits.person?.spend ?? {});
  return agents.flatMap(({ name, model = [], limits: own }, index) => {
    const id = projectOfSeed(config, 'agents', name) ?? DEFAULT_PROJECT;
    const ofProject = hasMoneyLimit(projects.find((one) => one.id === id)?.spend ?? {});
    if (!ofPerson && !ofProject && !hasMoneyLimit(own?.spend ?? limits.agent?.spend ?? {})) return [];
    const names = typeof model === 'string' ? [model] : model;
    return names
      .filter((name) => name !== 'rehearsal' && priceOf(providersName(name, models), prices) === undefined)
      .map((name) => ({
        path: formatPath(['agents', index, 'model']),
        message: `has no price, and the agent has a spend limit in money. Write prices: { '${name}': { input: …, output: … } }, or limit tokens with perDayTokens.`,
      }));
  });
}

function providersName(name: string, models: Config['models']): string {
  const own = Object.hasOwn(models, name) ? models[name] : undefined;
  return own?.modelId ?? name.slice(name.indexOf('/') + 1);
}
