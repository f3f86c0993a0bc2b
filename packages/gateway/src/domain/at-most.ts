/** The limit of an `LRUCache`, as its options. Its option `max` reserves memory for all entries at once, in every gateway that starts. */
export function atMost(entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
