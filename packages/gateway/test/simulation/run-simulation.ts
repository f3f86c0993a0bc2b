import { execFile } from 'node:child_process';
import { join } from 'node:path';

export interface SimulationOutput {
  readonly code: number;
  readonly text: string;
}

/** The bundle, which the tests make before they start, loads in a quarter of the time. Mistakes are planted in source files. */
const BUNDLE = [join(import.meta.dirname, '../../../../node_modules/.cache/simulation/main.js')];
const SOURCE = ['--conditions=@lastcall/source', join(import.meta.dirname, 'main.ts')];

/** Runs `npm run simulate` with these arguments, in its own process: it replaces the clock and the timers of the process that it runs in. */
export function runSimulation(...given: readonly string[]): Promise<SimulationOutput> {
  const { promise, resolve } = Promise.withResolvers<SimulationOutput>();
  const child = execFile(
    process.execPath,
    [...(given.includes('--plant') ? SOURCE : BUNDLE), '--processes=1', ...given],
    { maxBuffer: 100_000_000 },
    (_error, out, err) => resolve({ code: child.exitCode ?? -1, text: out + err }),
  );
  return promise;
}
