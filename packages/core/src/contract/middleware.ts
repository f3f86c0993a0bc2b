import { OptionsError } from '../errors.ts';
import type { MiddlewareFor } from './middleware-for.ts';
import type { ToolContext } from './tool-context.ts';

/** Wraps calls and requests to the model. The first of a list is the outermost. */
export type Middleware = MiddlewareFor<ToolContext>;

export function assertMiddleware(list: unknown, field: string = 'middleware'): asserts list is readonly Middleware[] {
  if (!Array.isArray(list)) throw new OptionsError(field, 'must be an array of middleware.');
  list.forEach((one: unknown, index) => {
    const { name } = (one ?? {}) as { name?: unknown };
    if (typeof name !== 'string' || name === '')
      throw new OptionsError(`${field}[${index}]`, 'must be an object with a name.');
  });
}
