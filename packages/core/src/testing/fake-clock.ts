import type { Clock } from '../clock.ts';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock whose time passes only when a test says so. */
export interface FakeClock extends Clock {
  /** Advances the time, wakes every sleeper whose time has come, in order, and lets the woken code run. */
  advance(ms: number): Promise<void>;
  /** The number of sleepers: a call that has ended leaves none. */
  readonly sleepers: number;
}

export function fakeClock(start: number = 1_000): FakeClock {
  let now = start;
  const asleep = new Set<Sleeper>();
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const sleeper: Sleeper = {
          at: now + ms,
          wake: () => {
            asleep.delete(sleeper);
            resolve();
          },
        };
        if (ms <= 0 || signal?.aborted) return resolve();
        asleep.add(sleeper);
        signal?.addEventListener('abort', sleeper.wake, { once: true });
      }),
    async advance(ms) {
      now += ms;
      for (const sleeper of [...asleep].sort((one, other) => one.at - other.at)) if (sleeper.at <= now) sleeper.wake();
      await settled();
    },
    get sleepers() {
      return asleep.size;
    },
  };
}

/** Lets everything that is ready run: the next turn of the event loop comes after all pending microtasks. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
