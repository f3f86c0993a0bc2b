import type { TestProject } from 'vitest/node';
import { makeFolder } from './folder.ts';
import { Program } from './program.ts';

/**
 * One gateway that starts and stops in good order, beside what else is prepared: only such a one leaves what it compiled to those
 * after it, and most gateways of the tests are killed.
 */
export function setup({ config }: TestProject): () => Promise<void> {
  // Vitest sets the variables of tests in its workers only, and this runs in none of them.
  const { NODE_COMPILE_CACHE = '' } = config.env;
  const compiled = startAndStop({ PORT: '0', NODE_COMPILE_CACHE });
  // A program that starts before this one has ended compiles by itself. A failure is reported at the end.
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
