import { CronDate } from 'croner';
import { z } from 'zod';
import { ApiError } from '../api-error.ts';
import { nextCronTime } from './cron.ts';
import { durationMs } from './duration.ts';
import type { PlanInput } from './plan.ts';

/** When a plan fires, as its row stores it. */
export interface Schedule {
  readonly cron: string | null;
  readonly at: number | null;
  readonly timeZone: string;
  readonly nextAt: number;
}

/** A plan that was due less than this ago is on time: the client or the gateway was only a little slow. */
export const TOLERANCE_MS = 60_000;

// A plan further ahead is more likely a mistake. The limit is also far below the latest valid date.
const MAX_AHEAD_MS = 100 * 366 * 86_400_000;

/** Reads the schedule of a plan. Refuses, with the reason, every schedule that is invalid or never due. */
export function parseSchedule(plan: PlanInput, now: number): Schedule {
  assertOne(plan);
  const timeZone = parseTimeZone(plan.timeZone ?? 'UTC');
  if (plan.cron !== undefined) return cronSchedule(plan.cron.trim(), timeZone, now);
  const at = plan.at !== undefined ? parseTime(plan.at, timeZone) : now + parseAfter(plan.after);
  const field = plan.at === undefined ? 'after' : 'at';
  if (at < now - TOLERANCE_MS)
    throw refused(field, `is in the past: it is ${iso(at)}, and now is ${iso(now)}. Use a future time.`);
  if (at > now + MAX_AHEAD_MS) throw refused(field, 'is more than 100 years away. Use an earlier time.');
  return { cron: null, at, timeZone, nextAt: at };
}

function assertOne({ cron, at, after }: PlanInput): void {
  const fields = Object.entries({ cron, at, after }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (fields.length === 1) return;
  const came = fields.length === 0 ? 'none came' : `these came: ${fields.join(', ')}`;
  throw refused('schedule', `must be exactly one of cron, at and after; ${came}.`);
}

/** The name of the time zone as databases of time zones have it, or an error that says what is wrong. */
export function parseTimeZone(timeZone: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch (cause) {
    throw refused('timeZone', `"${timeZone}" is not known. Use an IANA name, e.g. "Europe/Berlin".`, cause);
  }
}

function cronSchedule(cron: string, timeZone: string, now: number): Schedule {
  const nextAt = firstInstant(cron, timeZone, now);
  if (nextAt === undefined) throw refused('cron', `"${cron}" is never due.`);
  return { cron, at: null, timeZone, nextAt };
}

function firstInstant(cron: string, timeZone: string, now: number): number | undefined {
  try {
    return nextCronTime({ cron, timeZone }, now);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw refused('cron', `"${cron}" cannot be parsed: ${why} Expected e.g. "0 9 * * MON-FRI".`, cause);
  }
}

// RFC 3339 wants seconds before an offset, and ISO 8601 does not.
const isoTime = z.union([
  z.iso.datetime({ offset: true, local: true }),
  z.iso.datetime({ offset: true, precision: -1 }),
]);
const HAS_OFFSET = /(Z|[+-]\d\d:\d\d)$/;

function parseTime(at: string | number, timeZone: string): number {
  if (typeof at === 'number') {
    if (Number.isSafeInteger(at)) return at;
    throw refused('at', `${at} is not a time. Use whole milliseconds since the epoch, or an ISO 8601 time.`);
  }
  if (!isoTime.safeParse(at).success)
    throw refused('at', `"${at}" cannot be parsed. Use an ISO 8601 time, e.g. "2027-03-01T09:00:00+01:00".`);
  return HAS_OFFSET.test(at) ? Date.parse(at) : new CronDate(at, timeZone).getTime();
}

function parseAfter(after: string | number | undefined): number {
  const ms = typeof after === 'string' ? durationMs(after) : after;
  if (ms !== undefined && Number.isSafeInteger(ms) && ms > 0) return ms;
  throw refused(
    'after',
    `${JSON.stringify(after)} is not a duration. Use an ISO 8601 duration above zero in weeks, days, hours, minutes and seconds, e.g. "PT30M" or "P1D", or whole milliseconds; for months and years use "at".`,
  );
}

/** Formats a time for people and models. A number that is not a date is shown unchanged. */
function iso(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms);
}

function refused(field: string, problem: string, cause?: unknown): ApiError {
  return new ApiError('invalid_schedule', `The plan's ${field} ${problem}`, { details: { path: field }, cause });
}
