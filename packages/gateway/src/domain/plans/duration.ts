const DURATION = /^P(?=.)(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d{1,3})?)S)?)?$/;
const UNITS_MS = [7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1_000] as const;

/**
 * The length of an ISO 8601 duration in milliseconds. A day is 24 hours. Returns undefined for months and years, which have no
 * fixed length, and for invalid texts.
 */
export function durationMs(text: string): number | undefined {
  const parts = DURATION.exec(text.trim());
  if (parts === null) return undefined;
  const lengths = UNITS_MS.map((unit, index) => Number((parts[index + 1] ?? '0').replace(',', '.')) * unit);
  return Math.round(lengths.reduce((sum, length) => sum + length, 0));
}
