import { glob, readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { CommandFailed, EXIT } from '../exit-code.ts';

const NAME = /\.eval\.(ts|mts|js|mjs)$/;
const LEFT_OUT = new Set(['node_modules', 'dist']);

/**
 * The files that are named or match a pattern, those of the folders that are named, or all below this folder, in the order of their names.
 * The shells of Windows do not expand patterns, and neither does any shell in quotes.
 */
export async function findEvalFiles(named: readonly string[], folder: string): Promise<readonly string[]> {
  const found = await Promise.all((named.length === 0 ? ['.'] : named).map((one) => filesAt(one, folder)));
  const files = [...new Set(found.flat())].sort();
  if (files.length > 0) return files;
  throw new CommandFailed('There is no file *.eval.ts here. See "lastcall eval --help" for one to start with.', {
    exitCode: EXIT.usage,
  });
}

async function filesAt(named: string, folder: string): Promise<readonly string[]> {
  const path = resolve(folder, named);
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined) return found.isDirectory() ? await filesBelow(path) : [path];
  const matches: string[] = [];
  for await (const match of glob(named, { cwd: folder, exclude: (each) => LEFT_OUT.has(basename(each)) }))
    matches.push(match);
  if (matches.length === 0) throw new CommandFailed(`There is no file "${named}".`, { exitCode: EXIT.usage });
  return (await Promise.all(matches.map((match) => filesAt(match, folder)))).flat();
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
