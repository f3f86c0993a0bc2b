import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextCronTime } from '../../src/domain/plans/cron.ts';
import { durationMs } from '../../src/domain/plans/duration.ts';
import type { PlanInput } from '../../src/domain/plans/plan.ts';
import { parseSchedule } from '../../src/domain/plans/schedule.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const read = (schedule: Partial<PlanInput>, now = NOW) =>
  parseSchedule({ name: 'n', instruction: 'i', ...schedule }, now);
const nextAt = (schedule: Partial<PlanInput>, now?: number) => new Date(read(schedule, now).nextAt).toISOString();

/** The instants of a pattern between two times. */
function instants(cron: string, timeZone: string, from: string, to: string): string[] {
  const found: string[] = [];
  for (let at = nextCronTime({ cron, timeZone }, Date.parse(from)); at !== undefined && at < Date.parse(to); ) {
    found.push(new Date(at).toISOString().replace(':00.000Z', 'Z'));
    at = nextCronTime({ cron, timeZone }, at);
  }
  return found;
}

describe('a schedule', () => {
  test.each([
    ['an hour of the day', { cron: '0 9 * * *' }, '2026-01-02T09:00:00.000Z'],
    ['in a time zone', { cron: '0 9 * * *', timeZone: 'America/New_York' }, '2026-01-01T14:00:00.000Z'],
    ['with seconds', { cron: '*/5 * * * * *' }, '2026-01-01T12:00:05.000Z'],
    ['by its nickname', { cron: '@daily' }, '2026-01-02T00:00:00.000Z'],
    ['with spaces around', { cron: '  0 9  * * *  ' }, '2026-01-02T09:00:00.000Z'],
    ['an instant', { at: '2026-05-01T09:00:00Z' }, '2026-05-01T09:00:00.000Z'],
    ['with an offset', { at: '2026-05-01T09:00:00.250+02:00' }, '2026-05-01T07:00:00.250Z'],
    ['a local time', { at: '2026-05-01T09:00', timeZone: 'Europe/Berlin' }, '2026-05-01T07:00:00.000Z'],
    ['a local time in winter', { at: '2026-02-01T09:00:00', timeZone: 'Europe/Berlin' }, '2026-02-01T08:00:00.000Z'],
    ['an instant without seconds', { at: '2026-05-01T09:00Z' }, '2026-05-01T09:00:00.000Z'],
    ['an offset without seconds', { at: '2026-05-01T09:00+02:00' }, '2026-05-01T07:00:00.000Z'],
    ['a local time without a zone', { at: '2026-05-01T09:00' }, '2026-05-01T09:00:00.000Z'],
    ['an offset beside a zone', { at: '2026-05-01T09:00:00Z', timeZone: 'Asia/Tokyo' }, '2026-05-01T09:00:00.000Z'],
    ['milliseconds', { at: NOW + 5 }, '2026-01-01T12:00:00.005Z'],
    ['a moment ago', { at: NOW - 60_000 }, '2026-01-01T11:59:00.000Z'],
    ['29 February of a leap year', { at: '2028-02-29T00:00:00Z' }, '2028-02-29T00:00:00.000Z'],
    ['a duration', { after: 'PT90M' }, '2026-01-01T13:30:00.000Z'],
    ['days and more', { after: 'P1W2DT3H4M5.5S' }, '2026-01-10T15:04:05.500Z'],
    ['a duration in ms', { after: 1_500 }, '2026-01-01T12:00:01.500Z'],
  ])('[G23] is read: %s', (_what, schedule, expected) => {
    expect(nextAt(schedule)).toBe(expected);
  });

  test.each([
    ['none', {}, 'schedule', 'none came'],
    ['two', { cron: '* * * * *', at: '2027-01-01T00:00:00Z' }, 'schedule', 'these came: cron, at'],
    ['three', { cron: '* * * * *', at: 5, after: 5 }, 'schedule', 'these came: cron, at, after'],
    ['two of which one is empty', { cron: '', after: 'PT1M' }, 'schedule', 'these came: cron, after'],
    ['a zone that is not there', { cron: '0 9 * * *', timeZone: 'Mars/Base' }, 'timeZone', '"Mars/Base"'],
    ['an empty zone', { cron: '0 9 * * *', timeZone: '' }, 'timeZone', '""'],
    ['a bad zone of a time', { after: 5, timeZone: 'x' }, 'timeZone', '"x"'],
    ['an empty pattern', { cron: '' }, 'cron', 'five'],
    ['words', { cron: 'every morning' }, 'cron', '"every morning" cannot be parsed'],
    ['four fields', { cron: '0 9 * *' }, 'cron', 'five'],
    ['seven fields', { cron: '0 0 9 * * * 2027' }, 'cron', '5 or 6'],
    ['an hour of 25', { cron: '0 25 * * *' }, 'cron', 'hour: 25'],
    ['a pattern that is a time', { cron: '2027-01-01T00:00:00' }, 'cron', 'Use "at" for it'],
    ['a pattern with U+0000', { cron: '0 9 * * \0' }, 'cron', 'cannot be parsed'],
    ['30 February', { cron: '0 0 30 2 *' }, 'cron', 'is never due'],
    ['a time in words', { at: 'tomorrow' }, 'at', '"tomorrow" cannot be parsed'],
    ['a date alone', { at: '2027-01-01' }, 'at', 'cannot be parsed'],
    ['a day that is not there', { at: '2027-02-29T00:00:00Z' }, 'at', 'cannot be parsed'],
    ['an hour that is not there', { at: '2027-01-01T25:00:00Z' }, 'at', 'cannot be parsed'],
    ['no number', { at: Number.NaN }, 'at', 'is not a time'],
    ['a fraction', { at: NOW + 0.5 }, 'at', 'is not a time'],
    ['a time gone by', { at: NOW - 60_001 }, 'at', 'is in the past'],
    ['a time that no date holds', { at: Number.MAX_SAFE_INTEGER }, 'at', '100 years'],
    ['a time long before', { at: Number.MIN_SAFE_INTEGER }, 'at', 'is in the past'],
    ['no time at all', { after: 0 }, 'after', 'is not a duration'],
    ['backwards', { after: -5 }, 'after', 'is not a duration'],
    ['a duration of nothing', { after: 'PT0S' }, 'after', 'is not a duration'],
    ['words for a duration', { after: '5 minutes' }, 'after', 'is not a duration'],
    ['months', { after: 'P1M' }, 'after', 'for months and years use "at"'],
    ['an unfinished duration', { after: 'PT' }, 'after', 'is not a duration'],
    ['a negative duration', { after: '-PT5M' }, 'after', 'is not a duration'],
    ['a duration beyond all', { after: 'P99999999999999999999D' }, 'after', 'is not a duration'],
    ['centuries', { after: 'P99999W' }, 'after', '100 years'],
  ])('[G23] is refused with the reason: %s', (_what, schedule, path, words) => {
    expect(() => read(schedule)).toThrow(
      expect.objectContaining({
        code: 'invalid_schedule',
        details: { path },
        message: expect.stringContaining(words),
      }),
    );
  });

  test('any text is either read or refused', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.stringMatching(/^[\d*,/LW#?\- ]{1,30}$/));
    fc.assert(
      fc.property(
        fc.constantFrom('cron', 'at', 'after'),
        text,
        fc.option(text, { nil: undefined }),
        (field, value, timeZone) => {
          try {
            const { nextAt } = read({ [field]: value, timeZone });
            expect(nextAt).toBeGreaterThanOrEqual(NOW - 60_000);
          } catch (error) {
            expect(error).toMatchObject({ code: 'invalid_schedule' });
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test('a duration is the sum of its parts', () => {
    const part = fc.nat(1_000);
    fc.assert(
      fc.property(part, part, part, part, part, (weeks, days, hours, minutes, seconds) => {
        const ms = ((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000;
        expect(durationMs(`P${weeks}W${days}DT${hours}H${minutes}M${seconds}S`)).toBe(ms);
      }),
    );
  });
});

describe('local time across DST', () => {
  test.each([
    // The clock goes from 02:00 to 03:00 on 29 March, and from 03:00 back to 02:00 on 25 October.
    ['Europe/Berlin', '2026-03-28', '2026-03-31', ['2026-03-28T08:00Z', '2026-03-29T07:00Z', '2026-03-30T07:00Z']],
    ['Europe/Berlin', '2026-10-24', '2026-10-27', ['2026-10-24T07:00Z', '2026-10-25T08:00Z', '2026-10-26T08:00Z']],
    ['America/New_York', '2026-03-07', '2026-03-10', ['2026-03-07T14:00Z', '2026-03-08T13:00Z', '2026-03-09T13:00Z']],
    ['America/New_York', '2026-10-31', '2026-11-03', ['2026-10-31T13:00Z', '2026-11-01T14:00Z', '2026-11-02T14:00Z']],
  ])('[G23] nine in the morning stays nine in the morning: %s from %s', (zone, from, to, expected) => {
    expect(instants('0 9 * * *', zone, from, to)).toEqual(expected);
  });

  test('[G23] a time that the clock skips fires once, right after the skipped hour', () => {
    expect(instants('30 2 * * *', 'Europe/Berlin', '2026-03-28', '2026-03-31')).toEqual([
      '2026-03-28T01:30Z',
      '2026-03-29T01:00Z',
      '2026-03-30T00:30Z',
    ]);
    expect(nextAt({ at: '2026-03-29T02:30', timeZone: 'Europe/Berlin' })).toBe('2026-03-29T01:30:00.000Z');
  });

  test('[G23] a time that occurs twice fires the first time', () => {
    expect(instants('30 2 * * *', 'Europe/Berlin', '2026-10-24', '2026-10-27')).toEqual([
      '2026-10-24T00:30Z',
      '2026-10-25T00:30Z',
      '2026-10-26T01:30Z',
    ]);
    expect(instants('30 1 * * *', 'America/New_York', '2026-11-01', '2026-11-03')).toEqual([
      '2026-11-01T05:30Z',
      '2026-11-02T06:30Z',
    ]);
  });

  test('[G23] an hourly schedule fires every hour, also across a change of the clock', () => {
    const spring = instants('0 * * * *', 'Europe/Berlin', '2026-03-28T23:30Z', '2026-03-29T03:30Z');
    expect(spring).toEqual(['2026-03-29T00:00Z', '2026-03-29T01:00Z', '2026-03-29T02:00Z', '2026-03-29T03:00Z']);
    const autumn = instants('0 * * * *', 'Europe/Berlin', '2026-10-24T23:30Z', '2026-10-25T03:30Z');
    expect(autumn).toEqual(['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T02:00Z', '2026-10-25T03:00Z']);
  });

  test('[G23] 29 February comes in leap years, and not in 2100', () => {
    expect(instants('0 0 29 2 *', 'UTC', '2026-01-01', '2034-01-01')).toEqual([
      '2028-02-29T00:00Z',
      '2032-02-29T00:00Z',
    ]);
    expect(nextCronTime({ cron: '0 0 29 2 *', timeZone: 'UTC' }, Date.parse('2096-03-01'))).toBe(
      Date.parse('2104-02-29'),
    );
  });
});
