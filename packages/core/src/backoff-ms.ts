/**
 * How long to wait before the next attempt: `firstMs` after the first failure, then twice as long each time, up to
 * `maxMs`.
 */
export function backoffMs(attempt: number, { firstMs, maxMs }: { firstMs: number; maxMs?: number }): number {
  return Math.min(firstMs * 2 ** (attempt - 1), maxMs ?? Number.POSITIVE_INFINITY);
}
