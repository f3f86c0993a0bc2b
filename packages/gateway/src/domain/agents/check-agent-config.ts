import { type AgentConfig, agentConfigSchema } from '../../config/agent-config.ts';
import { type ConfigProblem, check } from '../../config/config-problem.ts';
import { ApiError } from '../api-error.ts';
import { plainText } from '../entities/column-text.ts';

/** Whether a tool of that name or id is registered. Default: every one is taken to be, and the cycle finds out. */
export type IsKnownTool = (nameOrId: string) => boolean;

/** What an agent may be configured with, or a 422 that tells every problem with its path. */
export function checkAgentConfig(value: unknown, isKnownTool: IsKnownTool = () => true): AgentConfig {
  const checked = check(agentConfigSchema, value);
  const problems = checked.ok ? unknownTools(checked.value, isKnownTool) : checked.problems;
  if (checked.ok && problems.length === 0) {
    plainText(checked.value.name, 'name', { min: 1, max: 200 });
    return checked.value;
  }
  const words = problems.map(({ path, message }) => (path === '' ? `It ${message}` : `${path} ${message}`));
  throw new ApiError(422, 'invalid_config', `The agent's configuration is invalid: ${words.join(' ')}`, {
    details: { path: problems[0]?.path ?? '', problems },
  });
}

function unknownTools({ tools = [] }: AgentConfig, isKnownTool: IsKnownTool): readonly ConfigProblem[] {
  return tools.flatMap((one, index) =>
    typeof one === 'string' && !isKnownTool(one)
      ? [{ path: `tools[${index}]`, message: `names "${one}", which is not a registered tool.` }]
      : [],
  );
}
