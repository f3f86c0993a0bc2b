import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The names that a configuration may have. The gateway takes the first that exists. */
export const CONFIG_FILES: readonly string[] = ['ts', 'mts', 'js', 'mjs'].map(
  (extension) => `lastcall.config.${extension}`,
);

export function hasConfigFile(folder: string): boolean {
  return CONFIG_FILES.some((name) => existsSync(join(folder, name)));
}
