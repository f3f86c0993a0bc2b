/** A part of 1 in percent, without decimals. What is nearly everything, or nearly nothing, is not rounded to all or none. */
export function wholePercent(part: number): number {
  const rounded = Math.round(part * 100);
  return part > 0 && part < 1 ? Math.min(99, Math.max(1, rounded)) : rounded;
}
