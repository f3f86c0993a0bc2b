import { throwFirst } from './follow-up-error.ts';

/**
 * Statements that do not need each other's results, sent in one go: with a database over the wire they share a round trip. All have
 * ended before it resolves or rejects: one that was still under way after a rollback would run outside the transaction.
 */
export async function pipeline<T extends readonly unknown[]>(
  ...statements: { readonly [K in keyof T]: Promise<T[K]> }
): Promise<T> {
  const ended = await Promise.allSettled(statements);
  throwFirst(ended.map((one) => (one.status === 'rejected' ? { error: one.reason } : undefined)));
  return ended.map((one) => (one as PromiseFulfilledResult<unknown>).value) as unknown as T;
}
