import { fork } from 'node:child_process';
import { type SimulateOptions, sumOf, type Tally } from './simulate.ts';

/**
 * Runs the worlds in several processes: the first takes the first seed and every nth after it, and so on. A world depends on its seed alone.
 * A process that dies costs its own share, and the tally says so.
 */
export async function simulateInProcesses(options: SimulateOptions, processes: number): Promise<Tally> {
  const shares = Array.from({ length: processes }, (_, index) => shareOf(options, index, processes));
  return sumOf(await Promise.all(shares.filter(({ count }) => count !== 0).map(simulateInChild)));
}

function shareOf(options: SimulateOptions, index: number, processes: number): SimulateOptions {
  const { from, count } = options;
  return {
    ...options,
    from: from + index,
    every: processes,
    count: count === undefined ? undefined : Math.max(0, Math.ceil((count - index) / processes)),
  };
}

function simulateInChild({ from, count, every, minutes, isShrunk }: SimulateOptions): Promise<Tally> {
  const given = [`--from=${from}`, `--share=${every}`];
  if (count !== undefined) given.push(`--seeds=${count}`);
  if (minutes !== undefined) given.push(`--minutes=${minutes}`);
  if (!isShrunk) given.push('--no-shrink');
  const { promise, resolve } = Promise.withResolvers<Tally>();
  const lost = (why: unknown): void =>
    resolve({
      ...{ worlds: 0, failed: [], kinds: {}, contents: {} },
      broken: [`The process of the seeds ${from}, ${from + every} and so on ended: ${why}. What it found is above.`],
    });
  const child = fork(process.argv[1] ?? '', given);
  child.once('message', (tally) => resolve(tally as Tally));
  child.once('error', lost);
  child.once('exit', (code, signal) => lost(code ?? signal));
  return promise;
}
