/** Microseconds per run: the median of several rounds, so that one pause of the collector does not count. */
export async function microsecondsPerRun(
  run: () => unknown,
  options: { runs: number; rounds?: number },
): Promise<number> {
  const { runs, rounds = 15 } = options;
  await repeat(run, runs);
  const perRun: number[] = [];
  for (let round = 0; round < rounds; round++) perRun.push(await timed(run, runs));
  return median(perRun);
}

/**
 * The same for several functions in turns, so that a slow phase of the machine affects all of them. Each gets as
 * many runs a round as fit into `roundMs`, and at least one.
 */
export async function microsecondsSideBySide(
  runs: readonly (() => Promise<unknown>)[],
  options: { rounds: number; roundMs: number },
): Promise<number[]> {
  const { rounds, roundMs } = options;
  const contenders: { run: () => Promise<unknown>; count: number; perRun: number[] }[] = [];
  for (const run of runs) contenders.push({ run, count: await warmUp(run, roundMs), perRun: [] });
  for (let round = 0; round < rounds; round++)
    for (const { run, count, perRun } of contenders) perRun.push(await timed(run, count));
  return contenders.map(({ perRun }) => median(perRun));
}

/**
 * The quickest of many short rounds, in turns: the cost of the code itself. For work of some ten microseconds across sockets,
 * where a median measures what other programs of the machine do.
 */
export async function quickestSideBySide(
  runs: readonly (() => Promise<unknown>)[],
  options: { rounds: number; runsPerRound: number },
): Promise<number[]> {
  const { rounds, runsPerRound } = options;
  for (const run of runs) await countWithin(run, WARM_UP_MS);
  const quickest = runs.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; round++)
    for (const [index, run] of runs.entries())
      quickest[index] = Math.min(quickest[index] ?? 0, await timed(run, runsPerRound));
  return quickest;
}

/** Runs until the code is compiled, then returns how many runs fit into one round. */
async function warmUp(run: () => Promise<unknown>, roundMs: number): Promise<number> {
  await countWithin(run, WARM_UP_MS);
  return await countWithin(run, roundMs);
}

// Code in many small functions, such as ours, is optimized late.
const WARM_UP_MS = 2_500;

async function countWithin(run: () => Promise<unknown>, ms: number): Promise<number> {
  const start = performance.now();
  let count = 0;
  do {
    await run();
    count++;
  } while (performance.now() - start < ms);
  return count;
}

// No forced collection before it: that would throw away shapes that compiled code relies on, and measure recompiling.
async function timed(run: () => unknown, runs: number): Promise<number> {
  const start = performance.now();
  await repeat(run, runs);
  return ((performance.now() - start) * 1_000) / runs;
}

async function repeat(run: () => unknown, runs: number): Promise<void> {
  for (let count = 0; count < runs; count++) await run();
}

export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
