import { makeFolder } from './folder.ts';
import { Program } from './program.ts';

/**
 * One gateway that starts and stops in good order, beside what else is prepared: only such a one leaves what it compiled to those
 * after it, and most gateways of the tests are killed. To strip the types of all sources anew takes each of them more than a second.
 */
export function setup(): () => Promise<void> {
  const compiled = startAndStop();
  // Whoever comes before it has ended compiles by itself. That it failed is told at the end.
  compiled.catch(() => {});
  return () => compiled;
}

async function startAndStop(): Promise<void> {
  await using folder = await makeFolder();
  await using gateway = Program.lastcall(['start'], { folder: folder.path, env: { PORT: '0' } });
  await gateway.listens();
  gateway.send('SIGTERM');
  await gateway.ended;
}
