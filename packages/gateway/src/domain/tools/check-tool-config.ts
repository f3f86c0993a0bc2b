import { type ConfigProblem, check } from '../../config/config-problem.ts';
import { isTaskTool } from '../../config/known-tool.ts';
import { namedBySubAgent } from '../../config/named-tools.ts';
import type { ToolConfig } from '../../config/tool-config.ts';
import { toolConfigSchema } from '../../config/tool-config-schema.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';
import { unknownTools } from './unknown-tools.ts';

/**
 * Returns the checked configuration, or throws a 422 that lists every problem with its path. `isOfFile` checks whether a tool
 * that a sub-agent names is in the configuration file. A sub-agent may name itself.
 */
export async function checkToolConfig(
  tx: Tx,
  value: unknown,
  { isOfFile, project }: { readonly isOfFile: (reference: string) => boolean; readonly project: string },
): Promise<ToolConfig> {
  const checked = check(toolConfigSchema, value);
  if (!checked.ok) throw refuse(checked.problems);
  const config = checked.value;
  const isItself = (reference: string): boolean => reference === config.name;
  const named = namedBySubAgent(config, []);
  const unknown = await unknownTools(tx.db, named, {
    isKnown: (one) => isItself(one) || isOfFile(one) || isTaskTool(one),
    project,
  });
  if (unknown.length > 0) throw refuse(unknown);
  return config;
}

function refuse(problems: readonly ConfigProblem[]): ApiError {
  const words = problems.map(({ path, message }) => (path === '' ? `It ${message}` : `${path} ${message}`));
  return new ApiError('invalid_config', `The tool's configuration is invalid: ${words.join(' ')}`, {
    details: { path: problems[0]?.path ?? '', problems },
  });
}
