// The only file of core that touches the outside world: the default of each port.
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { NewId } from './new-id.ts';

// A longer delay overflows the timer's 32 bits and would fire at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    let left = ms;
    do {
      const part = Math.min(left, LONGEST_TIMER_MS);
      await sleepPart(part, signal);
      left -= part;
    } while (left > 0 && !signal?.aborted);
  },
  after: wakeAfter,
};

// A wake that is further away than a timer reaches is split into several timers.
function wakeAfter(ms: number, wake: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const set = (left: number): void => {
    const part = Math.min(left, LONGEST_TIMER_MS);
    timer = setTimeout(() => (left > part ? set(left - part) : wake()), part);
  };
  set(ms);
  return () => clearTimeout(timer);
}

function sleepPart(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener('abort', wake);
  });
}

// Every call needs an id, so one random text serves for many, with a counter, just as engines draw UUIDs ahead. It is
// limited to this many, because cloning a running process also clones the rest of a draw.
const IDS_OF_A_DRAW = 128;
let drawn = '';
let given = IDS_OF_A_DRAW;

/** 34 to 36 characters that every provider accepts in an id: some accept no more than 40. */
export const randomId: NewId = () => {
  if (given === IDS_OF_A_DRAW) {
    drawn = crypto.randomUUID().replaceAll('-', '');
    given = 0;
  }
  return `${drawn}-${given++}`;
};

export const consoleLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (message, details) => console.warn(message, ...(details === undefined ? [] : [details])),
  error: (message, details) => console.error(message, ...(details === undefined ? [] : [details])),
};
