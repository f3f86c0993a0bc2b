import { assertMiddleware, type Middleware } from '../contract/middleware.ts';
import { assertToolSet, type ToolSet } from '../contract/tool-set.ts';

// Enumerable, so that a spread copy of a wrapped tool stays wrapped.
const MIDDLEWARE: unique symbol = Symbol.for('lastcall.middleware') as never;

/**
 * A new tool set in which every call goes through the middleware, outermost first. The definitions are not changed, so
 * wrapping them for one run does not affect another.
 */
export function wrapToolSet(set: ToolSet, middleware: Middleware | readonly Middleware[]): ToolSet {
  assertToolSet(set);
  const list = Array.isArray(middleware) ? (middleware as readonly Middleware[]) : [middleware as Middleware];
  assertMiddleware(list);
  return Object.fromEntries(
    Object.entries(set).map(([name, tool]) => [
      name,
      { ...tool, [MIDDLEWARE]: [...list, ...attachedMiddleware(tool)] },
    ]),
  );
}

export function attachedMiddleware(tool: object): readonly Middleware[] {
  return (tool as { [MIDDLEWARE]?: readonly Middleware[] })[MIDDLEWARE] ?? [];
}
