/** The parts of a wildcard pattern: `null` stands for any run of items, anything else for exactly one. */
export type WildcardParts<P> = readonly (P | null)[];

/**
 * Matches without ever going back further than the last run, so the cost is at most |parts| × |items|. A regular
 * expression of the same pattern takes minutes for five stars against one long name, and patterns come from a model.
 */
export function matchesWildcard<P, I>(
  parts: WildcardParts<P>,
  items: readonly I[],
  matchesOne: (part: P, item: I) => boolean,
): boolean {
  let part = 0;
  let item = 0;
  let run: { part: number; item: number } | undefined;
  while (item < items.length) {
    const expected = parts[part];
    if (expected === null) {
      run = { part, item };
      part += 1;
    } else if (expected !== undefined && matchesOne(expected, items[item] as I)) {
      part += 1;
      item += 1;
    } else if (run) {
      run.item += 1;
      item = run.item;
      part = run.part + 1;
    } else return false;
  }
  return parts.slice(part).every((rest) => rest === null);
}
