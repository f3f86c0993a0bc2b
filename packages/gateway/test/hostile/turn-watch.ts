/** The measurements of a watched period. */
export interface Watched {
  /** The longest time that other work in this process waited for the event loop, in ms of a processor as fast as the limits assume. */
  readonly longestTurnMs: number;
  /** By how much the process grew. */
  readonly grownBytes: number;
}

/**
 * Watches how long this process blocks its event loop, in processor time instead of wall time: a busy machine may take the
 * processor away for any time, which is not the fault of the process.
 */
export function watchTurns(): { stop(): Watched } {
  const before = process.memoryUsage.rss();
  let [longest, largest] = [0, before];
  const slowBefore = slowness();
  let last = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1_000);
    largest = Math.max(largest, process.memoryUsage.rss());
    last = process.threadCpuUsage();
  }, 1);
  return {
    stop() {
      clearInterval(timer);
      return { longestTurnMs: longest / Math.max(slowBefore, slowness()), grownBytes: largest - before };
    },
  };
}

/** The time of the reference work on a processor as fast as the limits assume. */
const REFERENCE_MS = 30;

/**
 * How many times longer the reference work takes now: 1 or more. A virtual machine's processor may take twice as long from one minute
 * to the next, and then every limit in milliseconds fails.
 */
function slowness(): number {
  const before = process.threadCpuUsage();
  for (let round = 0; round < 4; round++) JSON.parse(JSON.stringify(REFERENCE));
  const { user, system } = process.threadCpuUsage(before);
  return Math.max(1, (user + system) / 1_000 / REFERENCE_MS);
}

const REFERENCE: readonly object[] = Array.from({ length: 2_000 }, (_, index) => ({
  name: `tool-${index}`,
  description: 'x'.repeat(40),
  schema: { type: 'object', properties: { id: { type: 'string' }, n: { type: 'number' } } },
}));
