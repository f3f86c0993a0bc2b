import type { TestProject } from 'vitest/node';
import { makeFolder } from './folder.ts';
import { Program } from './program.ts';

/**
 * Starts and stops one gateway gracefully, in parallel with the other preparation. Only a process that exits normally writes the compile
 * cache for later ones, and most gateways of the tests are killed.
 */
export function setup({ config }: TestProject): () => Promise<void> {
  // Vitest sets the variables of tests only in its workers, and this does not run in a worker.
  const { NODE_COMPILE_CACHE = '' } = config.env;
  const compiled = startAndStop({ PORT: '0', NODE_COMPILE_CACHE });
  // A program that starts before this one has ended compiles its own code. A failure is reported at the end.
  compiled.catch(() => {});
  return () => compiled;
}

async function startAndStop(env: Readonly<Record<string, string>>): Promise<void> {
  await using folder = await makeFolder();
  await using gateway = Program.lastcall(['start'], { folder: folder.path, env });
  await gateway.listens();
  gateway.send('SIGTERM');
  await gateway.ended;
}
