import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The folder of the built studio, or undefined if its package is not installed. */
export function findStudio(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`)), 'dist');
  } catch {
    return undefined;
  }
}

const PACKAGE = '@lastcall/studio';
