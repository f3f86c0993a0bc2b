import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { checkConfig } from './check-config.ts';
import type { Config } from './config.ts';
import { ConfigError } from './config-error.ts';

export interface LoadedConfig {
  /** The file it came from. Undefined if there is none and the configuration is empty. */
  readonly file: string | undefined;
  readonly config: Config;
}

// The first file that exists is used: a compiled file is often next to its source.
const NAMES = ['ts', 'mts', 'js', 'mjs'].map((extension) => `lastcall.config.${extension}`);

/** Loads the configuration of a directory. Throws a ConfigError if the file cannot be loaded or used. */
export async function loadConfig(directory: string): Promise<LoadedConfig> {
  const file = await findConfig(directory);
  if (file === undefined) return { file, config: checkConfig({}) };
  return { file, config: checkConfig(await importDefault(file), file) };
}

async function findConfig(directory: string): Promise<string | undefined> {
  for (const name of NAMES) {
    const file = resolve(join(directory, name));
    if (await isThere(file)) return file;
  }
  return undefined;
}

async function isThere(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    // The file exists but cannot be read. Importing it will say why.
    return true;
  }
}

async function importDefault(file: string): Promise<unknown> {
  const module = await importFile(file);
  if ('default' in module) return module.default;
  const message = 'has no default export. Write: export default defineConfig({ … }).';
  throw new ConfigError(file, [{ path: '', message }]);
}

async function importFile(file: string): Promise<Record<string, unknown>> {
  try {
    return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (cause) {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    const place = cause instanceof Error ? placeOf(cause) : undefined;
    const message = `cannot be loaded. ${reason}${place === undefined ? '' : ` (${place})`}`;
    throw new ConfigError(file, [{ path: '', message }], { cause });
  }
}

/**
 * The file and the line of an error, because a configuration may import many files. Node writes the place of most syntax errors above the
 * stack. Other errors have it in their first frame outside of packages, unless that is the import itself.
 */
function placeOf({ stack = '' }: Error): string | undefined {
  const syntax = /^(file:.*|\/.*|[A-Za-z]:\\.*):(\d+)\n/.exec(stack);
  const frame = /^ +at (?:.*\()?(file:(?!.*\/node_modules\/).*?):(\d+):\d+\)?$/m.exec(stack);
  const [, file, line] = syntax ?? frame ?? [];
  if (file === undefined || file === import.meta.url) return undefined;
  return `${file.startsWith('file:') ? fileURLToPath(file) : file}:${line}`;
}
