import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory of the running test, removed at its end. */
export function scratchDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'lastcall-files-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Everything below a directory: kind, mode and bytes by path. Reads with node:fs directly, so that it is independent of the code under test. */
export function treeOf(directory: string, path = ''): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const name of readdirSync(join(directory, path)).sort()) {
    const at = path === '' ? name : `${path}/${name}`;
    tree[at] = describe(join(directory, at));
    if (tree[at].startsWith('directory')) Object.assign(tree, treeOf(directory, at));
  }
  return tree;
}

function describe(at: string): string {
  const stats = lstatSync(at);
  const mode = (stats.mode & 0o7777).toString(8);
  if (stats.isDirectory()) return `directory ${mode}`;
  if (stats.isSymbolicLink()) return `link ${readlinkSync(at)}`;
  return stats.isFile() ? `file ${mode} ${readFileSync(at).toString('hex')}` : 'special';
}
