/** The list in pieces of at most so many: a statement, or a transaction, takes no more at once. */
export function* chunks<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}
