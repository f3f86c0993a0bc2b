import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A demo whose slow tools wait, each at its first progress, until the test releases them. */
export function heldDemo(folder: string): { env: Record<string, string>; letGo(): Promise<void> } {
  const file = join(folder, 'let-go');
  const hold = pathToFileURL(join(import.meta.dirname, 'hold-demo.ts')).href;
  return {
    env: { NODE_OPTIONS: `--import=${hold}`, TEST_LET_GO: file },
    letGo: () => writeFile(file, ''),
  };
}
