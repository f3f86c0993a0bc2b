import { OptionsError } from '../errors.ts';

/** An answer from outside to a call that waits. */
export type Answer =
  | { readonly result: unknown }
  | { readonly error: string }
  | { readonly approve: true; readonly input?: unknown }
  | { readonly deny: string };

const KINDS = ['result', 'error', 'approve', 'deny'] as const;

/** Refuses an unclear answer: an `approve` that is not true must never count as a yes. */
export function assertAnswer(answer: unknown, field: string): asserts answer is Answer {
  const given = (typeof answer === 'object' && answer !== null ? answer : {}) as Partial<
    Record<(typeof KINDS)[number], unknown>
  >;
  const kinds = KINDS.filter((kind) => Object.hasOwn(given, kind));
  const clear =
    kinds.length === 1 &&
    (kinds[0] === 'result' ||
      (kinds[0] === 'approve' ? given.approve === true : typeof given[kinds[0] as 'error' | 'deny'] === 'string'));
  if (clear) return;
  throw new OptionsError(field, 'must be { result }, { error: text }, { approve: true, input? } or { deny: reason }.');
}
