import type { Clock } from './clock.ts';

/** Whether work settles within `ms`. Rejects if the work does; if abandoned work fails later, the error is ignored. */
export async function settlesWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const stop = new AbortController();
  const late = clock.sleep(Math.max(0, ms), stop.signal).then(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    stop.abort();
  }
}
