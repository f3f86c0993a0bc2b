import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailed } from './exit-code.ts';

/** Reads the folder's `.env`. Variables that are already set keep their values. */
export function loadEnv(folder: string): void {
  const file = join(folder, '.env');
  if (!existsSync(file)) return;
  try {
    process.loadEnvFile(file);
  } catch (cause) {
    throw new CommandFailed(`${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}
