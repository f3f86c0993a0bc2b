import { Cron } from 'croner';

/**
 * Returns the first time of the pattern after `after`, in milliseconds, or undefined if there is none. Patterns follow
 * local time across DST changes: a time that is skipped fires right after the change, one that occurs twice fires the
 * first time. Throws if the pattern is invalid.
 */
export function nextCronTime(
  { cron, timeZone }: { cron: string; timeZone: string },
  after: number,
): number | undefined {
  return parseCron(cron, timeZone).nextRun(new Date(after))?.getTime();
}

/** Without a callback croner starts no timer. */
function parseCron(cron: string, timezone: string): Cron {
  const parsed = new Cron(cron, { timezone, mode: '5-or-6-parts' });
  // croner also accepts a date as a pattern that fires once. That is what `at` is for.
  if (parsed.getOnce() !== null) throw new TypeError('it is a time, not a pattern. Use "at" for it.');
  return parsed;
}
