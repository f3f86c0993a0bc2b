import { AsyncLocalStorage } from 'node:async_hooks';
import { pathToFileURL } from 'node:url';

// A program: runs samples one after the other, and reports what each printed. They share the packages that they import, which take far
// longer to load than a sample takes to run. It exits when nothing is left to do, as each sample would.

/** The result of one sample. */
export interface SampleRun {
  readonly file: string;
  out: string;
  err: string;
  /** Why it failed, or what it changed globally: each sample must run as if it were alone. */
  problem?: string;
}

const current = new AsyncLocalStorage<SampleRun>();
const write = process.stdout.write.bind(process.stdout);
const runs: SampleRun[] = [];

// Late output, while the next sample runs, still belongs to the sample that caused it.
process.stdout.write = ((text: string) => keep('out', text)) as typeof process.stdout.write;
process.stderr.write = ((text: string) => keep('err', text)) as typeof process.stderr.write;
process.once('exit', () => write(JSON.stringify(runs)));

for (const file of process.argv.slice(2)) {
  const run: SampleRun = { file, out: '', err: '' };
  runs.push(run);
  const before = surroundings();
  try {
    await current.run(run, () => import(pathToFileURL(file).href));
    if (surroundings() !== before)
      run.problem = 'It changed the environment, the folder or the exit code of the process.';
  } catch (error) {
    run.problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  process.exitCode = undefined;
}

function keep(output: 'out' | 'err', text: string): boolean {
  const run = current.getStore() ?? runs.at(-1);
  if (run !== undefined) run[output] += text;
  return true;
}

/** Global state that a sample could change, to compare before and after. */
function surroundings(): string {
  return JSON.stringify([process.env, process.cwd(), process.exitCode]);
}
