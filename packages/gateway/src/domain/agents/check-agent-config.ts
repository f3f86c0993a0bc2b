import { type AgentConfig, agentConfigSchema } from '../../config/agent-config.ts';
import { type ConfigProblem, check } from '../../config/config-problem.ts';
import { ApiError } from '../api-error.ts';
import { plainText } from '../entities/column-text.ts';

/** True if a tool of that name or id is registered. By default all are assumed to be, and the cycle finds out. */
export type IsKnownTool = (nameOrId: string) => boolean;

/** Returns the checked configuration, or throws a 422 that lists every problem with its path. */
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
