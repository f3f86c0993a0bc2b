import { check } from '../../config/config-problem.ts';
import type { ToolConfig } from '../../config/tool-config.ts';
import { toolConfigSchema } from '../../config/tool-config-schema.ts';
import { ApiError } from '../api-error.ts';

/** Returns the checked configuration, or throws a 422 that lists every problem with its path. */
export function checkToolConfig(value: unknown): ToolConfig {
  const checked = check(toolConfigSchema, value);
  if (checked.ok) return checked.value;
  const { problems } = checked;
  const words = problems.map(({ path, message }) => (path === '' ? `It ${message}` : `${path} ${message}`));
  throw new ApiError(422, 'invalid_config', `The tool's configuration is invalid: ${words.join(' ')}`, {
    details: { path: problems[0]?.path ?? '', problems },
  });
}
