// The one file of core that touches the world: the default of each port.
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

// A wake that is further off than a timer reaches is set in parts.
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

// Every call needs an id, so a random text serves for many, with a count: as engines themselves draw UUIDs ahead. Not for
// more than these, because where a running process is cloned, what is left of a draw is cloned too.
const IDS_OF_A_DRAW = 128;
let drawn = '';
let given = IDS_OF_A_DRAW;

/** 34 to 36 characters of those that every provider takes in an id: some take no more than 40. */
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
