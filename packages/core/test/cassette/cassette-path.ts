import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A path for a cassette of this test, in a folder that does not exist yet. */
export async function cassettePath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lastcall-cassette-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'cassettes', 'a.json');
}
