import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandFailed, EXIT } from './exit-code.ts';

/** Makes the folder of a file that will be written. In CI, folders of reports do not exist yet. */
export async function makeFolderOf(file: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
  } catch (cause) {
    throw new CommandFailed(`The folder of "${file}" cannot be made: ${(cause as Error).message}`, {
      exitCode: EXIT.usage,
      cause,
    });
  }
}
