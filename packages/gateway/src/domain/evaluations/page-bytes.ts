/** How many bytes of texts a page has. */
const MOST_BYTES = 4_000_000;

/** The first of the items, as many as fit into one page with their texts, and at least one. */
export function fitting<T>(items: readonly T[], bytesOf: (item: T) => number): readonly T[] {
  let bytes = 0;
  const tooMany = items.findIndex((item, at) => {
    bytes += bytesOf(item);
    return at > 0 && bytes > MOST_BYTES;
  });
  return tooMany === -1 ? items : items.slice(0, tooMany);
}
