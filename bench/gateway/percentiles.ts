/** The value below which that part of them lies, e.g. 0.5 for the median. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? Number.NaN;
}

/** A finding: the figure, what it is held against, and what came of it. */
export function heldAtMost(what: string, figure: number, most: number, unit = ''): string {
  return `${what}: ${Number(figure.toPrecision(3))}${unit}, at most ${most}${unit}: ${figure <= most ? 'held' : 'missed'}.`;
}

export function heldAtLeast(what: string, figure: number, least: number, unit = ''): string {
  return `${what}: ${Number(figure.toPrecision(3))}${unit}, at least ${least}${unit}: ${figure >= least ? 'held' : 'missed'}.`;
}
