import { isFollowUpError } from './follow-up-error.ts';

/**
 * Statements that do not need each other's results, sent in one go: with a database over the wire they share a round trip. All have
 * ended before it resolves or rejects: one that was still under way after a rollback would run outside the transaction.
 */
export async function pipeline<T extends readonly unknown[]>(
  ...statements: { readonly [K in keyof T]: Promise<T[K]> }
): Promise<T> {
  // The first in time: after it a transaction refuses all others, and what those say tells nothing.
  let failed: { readonly error: unknown } | undefined;
  const values = await Promise.all(
    statements.map((one: Promise<unknown>) =>
      one.catch((error: unknown) => {
        if (failed === undefined || isFollowUpError(failed.error)) failed = { error };
      }),
    ),
  );
  if (failed !== undefined) throw failed.error;
  return values as unknown as T;
}
