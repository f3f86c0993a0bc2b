/** What is said of statements after one that failed: the transaction is undone, or a statement could not be kept (PostgreSQL). */
const CODES: ReadonlySet<unknown> = new Set(['25P02', '26000', 'undone']);

/** Whether an error only tells that another came before it. */
export function isFollowUpError(error: unknown): boolean {
  return CODES.has((error as { code?: unknown } | null)?.code);
}
