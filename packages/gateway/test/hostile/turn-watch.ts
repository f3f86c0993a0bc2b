/** What it took while it was watched. */
export interface Watched {
  /** The longest time that anybody else in this process waited for a turn, in ms of the processor's time. */
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
      return { longestTurnMs: longest, grownBytes: largest - before };
    },
  };
}
