/** The value below which that part of them lies, e.g. 0.5 for the median. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? Number.NaN;
}
