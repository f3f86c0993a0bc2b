/**
 * The codes of statements that did not run, because the transaction had already failed or the server did not have the
 * prepared statement.
 */
const CODES: ReadonlySet<unknown> = new Set(['25P02', '26000', 'undone']);

/** True if an error only says that another error came before it. */
export function isFollowUpError(error: unknown): boolean {
  return CODES.has((error as { code?: unknown } | null)?.code);
}

export interface Failure {
  readonly error: unknown;
}

/**
 * Throws the error that caused the others: after it, the transaction refuses all other statements, and their errors say
 * nothing new.
 */
export function throwFirst(failures: readonly (Failure | undefined)[]): void {
  const failed = failures.filter((one) => one !== undefined);
  const first = failed.find(({ error }) => !isFollowUpError(error)) ?? failed[0];
  if (first !== undefined) throw first.error;
}
