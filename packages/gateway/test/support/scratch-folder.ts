import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Registers the function that removes a folder, to call it when the folder is no longer used. */
export type OnEnd = (remove: () => Promise<void>) => void;

/** Makes a temporary folder. It is removed when the test has ended; hooks, which run outside of tests, give their own `onEnd`. */
export async function scratchFolder(name: string, onEnd: OnEnd = onTestFinished): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `lastcall-${name}-`));
  // A server that is being stopped may write its last line while the folder is removed.
  onEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
