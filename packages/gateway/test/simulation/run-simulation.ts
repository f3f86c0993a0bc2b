import { execFile } from 'node:child_process';
import { join } from 'node:path';

export interface SimulationOutput {
  readonly code: number;
  readonly text: string;
}

/** Runs `npm run simulate` with these arguments, in its own process: it replaces the clock and the timers of the process that it runs in. */
export function runSimulation(...given: readonly string[]): Promise<SimulationOutput> {
  const main = join(import.meta.dirname, 'main.ts');
  const { promise, resolve } = Promise.withResolvers<SimulationOutput>();
  const child = execFile(
    process.execPath,
    ['--conditions=@lastcall/source', main, ...given],
    { maxBuffer: 100_000_000 },
    (_error, out, err) => resolve({ code: child.exitCode ?? -1, text: out + err }),
  );
  return promise;
}
