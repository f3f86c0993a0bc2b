/** How long to wait before the next try: `firstMs` after the first failed attempt, then twice as long each time, up to `maxMs`. */
export function backoffMs(attempt: number, { firstMs, maxMs }: { firstMs: number; maxMs?: number }): number {
  return Math.min(firstMs * 2 ** (attempt - 1), maxMs ?? Number.POSITIVE_INFINITY);
}
