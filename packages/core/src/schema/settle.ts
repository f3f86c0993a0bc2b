import { isPromise } from '../is-promise.ts';
import { describeError } from '../results/describe-error.ts';
import { problemsOf } from './issues.ts';
import type { Problem, SchemaResult } from './schema-result.ts';

/** A validator that throws has not confirmed the value, so the value is refused. */
export function checkFailed(error: unknown, before: readonly Problem[] = []): SchemaResult {
  return {
    ok: false,
    problems: [...before, { path: '', message: `cannot be checked: ${describeError(error).message}` }],
  };
}

export function refused(issues: unknown, before: readonly Problem[] = []): SchemaResult {
  return { ok: false, problems: [...before, ...problemsOf(issues)] };
}

/** Settles the result of a validator, synchronous or not. */
export function settleWith(
  given: () => unknown,
  settle: (result: unknown) => SchemaResult,
  fail: (error: unknown) => SchemaResult = checkFailed,
): SchemaResult | Promise<SchemaResult> {
  try {
    const result = given();
    if (!isPromise(result)) return settle(result);
    return Promise.resolve(result).then(settle).catch(fail);
  } catch (error) {
    return fail(error);
  }
}
