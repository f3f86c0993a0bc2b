import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CommandFailed, EXIT } from '../exit-code.ts';

const NAME = /\.eval\.(ts|mts|js|mjs)$/;
const LEFT_OUT = new Set(['node_modules', 'dist']);

/** The files that are named, those of the folders that are named, or all below this folder, in the order of their names. */
export async function findEvalFiles(named: readonly string[], folder: string): Promise<readonly string[]> {
  const found = await Promise.all(
    (named.length === 0 ? ['.'] : named).map((one) => filesAt(resolve(folder, one), one)),
  );
  const files = [...new Set(found.flat())].sort();
  if (files.length > 0) return files;
  throw new CommandFailed('There is no file *.eval.ts here. See "lastcall eval --help" for one to start with.', {
    exitCode: EXIT.usage,
  });
}

async function filesAt(path: string, named: string): Promise<readonly string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new CommandFailed(`There is no file "${named}".`, { exitCode: EXIT.usage });
  return found.isDirectory() ? await filesBelow(path) : [path];
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory())
        return LEFT_OUT.has(entry.name) || entry.name.startsWith('.') ? [] : await filesBelow(path);
      return NAME.test(entry.name) ? [path] : [];
    }),
  );
  return found.flat();
}
