import type { Clock } from '@lastcall/core';
import { systemClock } from '@lastcall/core/internal';

/**
 * The clock of one run: the machine's time at its start, and from then on a clock that is never set. With `Date.now`, all runs would end at
 * their deadline when the machine's clock is corrected by an hour.
 */
export function createRunClock(): Clock {
  const ahead = Date.now() - performance.now();
  return { ...systemClock, now: () => Math.round(performance.now() + ahead) };
}
