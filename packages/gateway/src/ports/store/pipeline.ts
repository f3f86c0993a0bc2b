import { throwFirst } from './follow-up-error.ts';

/**
 * Sends statements that do not need each other's results together, so that they share a round trip to the database. It
 * resolves or rejects when all have ended: one that was still running after a rollback would run outside the
 * transaction.
 */
export async function pipeline<T extends readonly unknown[]>(
  ...statements: { readonly [K in keyof T]: Promise<T[K]> }
): Promise<T> {
  const ended = await Promise.allSettled(statements);
  throwFirst(ended.map((one) => (one.status === 'rejected' ? { error: one.reason } : undefined)));
  return ended.map((one) => (one as PromiseFulfilledResult<unknown>).value) as unknown as T;
}
