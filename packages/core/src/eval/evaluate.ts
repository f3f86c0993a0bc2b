import type { EvalOptions, EvalReport } from './evaluation.ts';
import { runCases } from './run-cases.ts';

/** A program that runs the evaluations of the files that it loads, such as `lastcall eval`. */
export interface EvalHost {
  run(options: EvalOptions): Promise<EvalReport>;
}

/** All copies of this package in a process share it: the file of an evaluation may load another one than the program. */
const HOST = Symbol.for('lastcall.eval.host');

/**
 * Runs all cases, and returns their scores. In a file `*.eval.ts`, `lastcall eval` runs it, with a progress bar, and keeps the results.
 */
export function evaluate<Input = unknown, Expected = unknown>(
  options: EvalOptions<Input, Expected>,
): Promise<EvalReport> {
  const host = (globalThis as { [HOST]?: EvalHost })[HOST];
  if (host === undefined) return runCases(options as EvalOptions);
  const running = host.run(options as EvalOptions);
  // A file may call this without waiting for it. The host says what failed, and an unhandled rejection would end the process before.
  running.catch(() => {});
  return running;
}

/** Sets the program that runs evaluations, while `work` loads them. */
export async function hostEvaluations<T>(host: EvalHost, work: () => Promise<T>): Promise<T> {
  const shared = globalThis as { [HOST]?: EvalHost | undefined };
  const before = shared[HOST];
  shared[HOST] = host;
  try {
    return await work();
  } finally {
    shared[HOST] = before;
  }
}
