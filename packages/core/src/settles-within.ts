import type { Clock } from './clock.ts';

/** Whether work comes to its end within `ms`. Rejects as the work does; one that is left behind may fail later: nobody minds. */
export async function settlesWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const stop = new AbortController();
  const late = clock.sleep(Math.max(0, ms), stop.signal).then(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    stop.abort();
  }
}
