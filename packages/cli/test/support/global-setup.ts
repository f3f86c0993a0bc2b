import { makeFolder } from './folder.ts';
import { Program } from './program.ts';

/**
 * One gateway that starts and stops in good order, before any test: only such a one leaves what it compiled to those after it,
 * and most gateways of the tests are killed. To strip the types of all sources anew takes each of them four seconds of a processor.
 */
export async function setup(): Promise<void> {
  await using folder = await makeFolder();
  await using gateway = Program.lastcall(['start'], { folder: folder.path, env: { PORT: '0' } });
  await gateway.listens();
  gateway.send('SIGTERM');
  await gateway.ended;
}
