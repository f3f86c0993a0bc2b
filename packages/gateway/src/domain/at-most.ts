/** The limit of an `LRUCache`, as its options. Its option `max` reserves memory for all entries at once, in every gateway that starts. */
export function atMost(entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}

/**
 * The limit of an `LRUCache` whose keys take most of its memory: so many characters of keys, and so many entries. A key counts as
 * `characters / entries` if it is shorter.
 */
export function keysAtMost({ entries, characters }: { readonly entries: number; readonly characters: number }): {
  readonly maxSize: number;
  readonly sizeCalculation: (value: unknown, key: string) => number;
} {
  const least = Math.ceil(characters / entries);
  return { maxSize: characters, sizeCalculation: (_value, key) => Math.max(least, key.length) };
}
