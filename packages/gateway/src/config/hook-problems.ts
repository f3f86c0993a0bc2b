import type { Config } from './config.ts';
import { type ConfigProblem, formatPath } from './config-problem.ts';
import { envNameOf, type HookConfig } from './hook-config.ts';

type Context = Pick<Config, 'hooks' | 'agents' | 'tools' | 'secrets'>;

export function hookProblems(config: Context): readonly ConfigProblem[] {
  return Object.entries(config.hooks).flatMap(([name, hook]) => [
    ...agentProblems(config, name, hook),
    ...secretProblems(config, name, hook),
    ...answerProblems(config, name, hook),
  ]);
}

function agentProblems({ agents }: Context, name: string, hook: HookConfig): readonly ConfigProblem[] {
  if (agents.some((agent) => agent.name === hook.agent)) return [];
  const names = agents.map((agent) => JSON.stringify(agent.name)).join(', ');
  const message = `is not an agent of this configuration. Its agents: ${names === '' ? 'none' : names}.`;
  return [{ path: formatPath(['hooks', name, 'agent']), message }];
}

function secretProblems({ secrets }: Context, name: string, hook: HookConfig): readonly ConfigProblem[] {
  return [hook.secret]
    .flat()
    .map(envNameOf)
    .filter((secret) => !secrets.includes(secret))
    .map((secret) => ({
      path: formatPath(['hooks', name, 'secret']),
      message: `names ${secret}, which is not on the list "secrets" of this configuration.`,
    }));
}

function answerProblems(config: Context, name: string, hook: HookConfig): readonly ConfigProblem[] {
  const { answers = [], verify } = hook;
  const path = (...rest: PropertyKey[]): string => formatPath(['hooks', name, 'answers', ...rest]);
  if (answers.length > 0 && verify !== 'standard')
    return [{ path: path(), message: 'needs verify: "standard": the other services send events of their own.' }];
  return answers.flatMap((tool, index) =>
    isJob(config, hook.agent, tool)
      ? []
      : [
          {
            path: path(index),
            message: 'is not an external tool without a URL, of this configuration or of the agent.',
          },
        ],
  );
}

function isJob({ agents, tools }: Context, agentName: string, name: string): boolean {
  const inline = agents.find((agent) => agent.name === agentName)?.tools ?? [];
  const ofFile = Object.hasOwn(tools, name) ? tools[name] : undefined;
  const found = inline.find((one) => typeof one !== 'string' && one.name === name) ?? ofFile;
  if (typeof found !== 'object' || found.executionType !== 'external') return false;
  const { execution } = found;
  return execution?.url === undefined && execution?.webhookUrl === undefined;
}
