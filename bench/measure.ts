/** Microseconds per run: the median of several rounds, so that one pause of the collector does not count. */
export async function microsecondsPerRun(
  run: () => unknown,
  options: { runs: number; rounds?: number },
): Promise<number> {
  const { runs, rounds = 15 } = options;
  await repeat(run, runs);
  const perRun: number[] = [];
  for (let round = 0; round < rounds; round++) {
    globalThis.gc?.();
    const start = performance.now();
    await repeat(run, runs);
    perRun.push(((performance.now() - start) * 1_000) / runs);
  }
  return median(perRun);
}

async function repeat(run: () => unknown, runs: number): Promise<void> {
  for (let count = 0; count < runs; count++) await run();
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
