/** What it took while it was watched. */
export interface Watched {
  /** The longest time that other work in this process waited for a turn, in ms of the time of a processor as fast as the limits assume. */
  readonly longestTurnMs: number;
  /** By how much the process grew. */
  readonly grownBytes: number;
}

/**
 * Watches how long this process keeps others waiting, in the processor's time and not by the clock: a busy machine may take the
 * processor away for as long as it likes, and that says nothing of the process.
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

/** What the reference work takes on a processor as fast as the limits assume. */
const REFERENCE_MS = 30;

/**
 * How many times longer than that it takes now: 1 or more. A virtual machine's processor may take twice as long for the same work from one minute
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
