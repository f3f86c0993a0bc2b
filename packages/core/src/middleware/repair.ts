import type { Middleware } from '../contract/middleware.ts';
import type { BrokenInput } from '../contract/middleware-for.ts';

/** A middleware that repairs arguments, e.g. by asking a model or by a rule of thumb. */
export function repair(repairInput: (broken: BrokenInput) => unknown): Middleware {
  return { name: 'repair', repair: repairInput };
}
