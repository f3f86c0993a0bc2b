import { Cron } from 'croner';

/**
 * The first instant of the pattern after `after`, in milliseconds; undefined where there is none. Local time is kept across
 * DST: a fixed time that the clock leaps over fires right after the leap, one that comes twice fires the first time. Throws
 * where the pattern cannot be read.
 */
export function nextInstant({ cron, timeZone }: { cron: string; timeZone: string }, after: number): number | undefined {
  return parseCron(cron, timeZone).nextRun(new Date(after))?.getTime();
}

/** Without a function croner starts no timer. */
function parseCron(cron: string, timezone: string): Cron {
  const parsed = new Cron(cron, { timezone, mode: '5-or-6-parts' });
  // croner also takes a date for a pattern that comes once: that is what `at` is for.
  if (parsed.getOnce() !== null) throw new TypeError('it is a time, not a pattern: give it as "at".');
  return parsed;
}
