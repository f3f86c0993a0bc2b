/** The codes of statements that were not run: the transaction had failed before, or the server had no such prepared statement. */
const CODES: ReadonlySet<unknown> = new Set(['25P02', '26000', 'undone']);

/** Whether an error only tells that another came before it. */
export function isFollowUpError(error: unknown): boolean {
  return CODES.has((error as { code?: unknown } | null)?.code);
}

export interface Failure {
  readonly error: unknown;
}

/** Throws the failure that says what went wrong: after it a transaction refuses all other statements, and what those say tells nothing. */
export function throwFirst(failures: readonly (Failure | undefined)[]): void {
  const failed = failures.filter((one) => one !== undefined);
  const first = failed.find(({ error }) => !isFollowUpError(error)) ?? failed[0];
  if (first !== undefined) throw first.error;
}
