import { type AgentConfig, agentConfigSchema } from '../../config/agent-config.ts';
import { type ConfigProblem, check } from '../../config/config-problem.ts';
import { problemsOfDefinition } from '../../config/definitions.ts';
import type { Offered } from '../../config/known-tool.ts';
import { namedTools } from '../../config/named-tools.ts';
import { currencyProblem } from '../../config/spend-problems.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';
import { isId, plainText } from '../entities/column-text.ts';
import { findToolRows } from '../tools/stored-tool.ts';
import { unknownTools } from '../tools/unknown-tools.ts';

/**
 * Returns the checked configuration, or throws a 422 that lists every problem with its path. Without `offered`, the tools and the
 * definition that it names are assumed to exist, and a missing one fails in the run.
 */
export async function checkAgentConfig(
  tx: Tx,
  value: unknown,
  { offered, project }: { readonly offered?: Offered | undefined; readonly project: string },
): Promise<AgentConfig> {
  const checked = check(agentConfigSchema, value);
  const problems = checked.ok ? await namedProblems(tx, checked.value, { offered, project }) : checked.problems;
  if (checked.ok && problems.length === 0) {
    plainText(checked.value.name, 'name', { min: 1, max: 200 });
    return checked.value;
  }
  const words = problems.map(({ path, message }) => (path === '' ? `It ${message}` : `${path} ${message}`));
  throw new ApiError('invalid_config', `The agent's configuration is invalid: ${words.join(' ')}`, {
    details: { path: problems[0]?.path ?? '', problems },
  });
}

/** The configuration with changed fields. Null removes a field. */
export function withChanges(config: object, changes: object): object {
  const merged = Object.entries({ ...config, ...changes });
  return Object.fromEntries(merged.filter(([, value]) => value !== null && value !== undefined));
}

/**
 * Keeps the tools of the registry that a configuration is about to name from being deleted until the commit. Call it before any
 * agent is locked, because deleting a tool locks the tool first and then the agents.
 */
export async function lockNamedTools(tx: Tx, config: unknown): Promise<void> {
  const { tools } = (config ?? {}) as { readonly tools?: unknown };
  const references = namedTools(tools, [])
    .map(({ reference }) => reference)
    .filter(isId);
  if (references.length === 0) return;
  await tx.db
    .selectFrom('tools')
    .select('id')
    .where((eb) => eb.or([eb('name', 'in', references), eb('id', 'in', references)]))
    .orderBy('id')
    .forShare()
    .execute();
}

/** What does not fit the configuration file and the registry: the definition, the tools and the currency that it names. */
async function namedProblems(
  tx: Tx,
  config: AgentConfig,
  { offered, project }: { readonly offered?: Offered | undefined; readonly project: string },
): Promise<readonly ConfigProblem[]> {
  const { tools = [] } = config;
  const isKnownTool = offered?.isKnownTool ?? (() => true);
  const unknown = await unknownTools(tx.db, namedTools(tools, ['tools']), { isKnown: isKnownTool, project });
  const own = tools.filter((one) => typeof one === 'string' && !isKnownTool(one)) as readonly string[];
  const registered = await findToolRows(tx.db, own, project);
  const repeated = tools.flatMap((one, index) =>
    typeof one !== 'string' && registered.some(({ name }) => name === one.name)
      ? [{ path: `tools[${index}].name`, message: `is also a registered tool that the agent names. Rename it.` }]
      : [],
  );
  const ofFile =
    offered === undefined
      ? []
      : [
          ...problemsOfDefinition(config, offered.definitions),
          ...currencyProblem(offered, ['limits', 'spend'], config.limits?.spend),
        ];
  return [...ofFile, ...unknown, ...repeated];
}
