import { isFollowUpError } from './follow-up-error.ts';

/**
 * Statements that do not need each other's results, sent in one go: with a database over the wire they share a round trip. All have
 * ended before it resolves or rejects: one that was still under way after a rollback would run outside the transaction.
 */
export async function pipeline<T extends readonly unknown[]>(
  ...statements: { readonly [K in keyof T]: Promise<T[K]> }
): Promise<T> {
  const ended = await Promise.allSettled(statements);
  const failed = ended.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  // The first of those that say what went wrong: after it a transaction refuses all others, and what those say tells nothing.
  const first = failed.find(({ reason }) => !isFollowUpError(reason)) ?? failed[0];
  if (first !== undefined) throw first.reason;
  return ended.map((one) => (one as PromiseFulfilledResult<unknown>).value) as unknown as T;
}
