import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FilesystemError, LastcallError } from '../errors.ts';
import { isAddressable, type PathLimits } from '../files/file-path.ts';
import type { FileEntry } from '../files/filesystem.ts';
import type { PathPattern } from '../files/path-pattern.ts';
import { toFilesystemError, unless } from './host-error.ts';
import { findPlace, type HostPlace } from './host-place.ts';

interface SearchRoot {
  readonly root: string;
  readonly limits: Partial<PathLimits>;
}

/** The usable entries of a directory: no link out of the root, no device, no name that we would refuse. */
export async function listHostDirectory(search: SearchRoot, place: HostPlace): Promise<FileEntry[]> {
  const { path, stats } = place;
  if (!stats) throw new FilesystemError('not_found', path, 'is not there. List the directory above it to see what is.');
  if (!stats.isDirectory()) throw new FilesystemError('not_directory', path, 'is a file, not a directory.');
  const entries = await readDirectory(search, place).catch((error) => {
    throw toFilesystemError(path, error);
  });
  return entries.map(({ name, path, kind }) => ({ name, path, kind })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Paths of the files that match. A link to a directory is not entered unless the pattern names it: links may form
 * circles and show one file under many names.
 */
export async function globHostFiles(search: SearchRoot, pattern: PathPattern): Promise<string[]> {
  const found: string[] = [];
  const pending = await startOf(search, pattern);
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { real } = next;
    // A directory that vanishes or may not be read during the search has no matches.
    const entries = (await unless(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'], readDirectory(search, next))) ?? [];
    found.push(...entries.filter((entry) => entry.kind === 'file').map((entry) => entry.path));
    const below = entries.filter((entry) => entry.kind === 'directory' && !entry.isLink);
    pending.push(...below.map(({ name, path }) => ({ path, real: join(real, name) })));
  }
  return found.filter(pattern.matches).sort();
}

type Directory = Pick<HostPlace, 'path' | 'real'>;
type HostEntry = FileEntry & { readonly isLink: boolean };

async function startOf({ root }: SearchRoot, { base }: PathPattern): Promise<Directory[]> {
  const place = await findPlace(root, base).catch((error) => {
    if (error instanceof LastcallError && error.code === 'not_directory') return undefined;
    throw error;
  });
  return place?.stats?.isDirectory() ? [place] : [];
}

async function readDirectory({ root, limits }: SearchRoot, { path, real }: Directory): Promise<HostEntry[]> {
  const entries: HostEntry[] = [];
  for (const found of await readdir(real, { withFileTypes: true })) {
    const at = path === '' ? found.name : `${path}/${found.name}`;
    const kind = isAddressable(at, limits) ? await kindOf(root, at, found) : undefined;
    if (kind) entries.push({ name: found.name, path: at, kind, isLink: found.isSymbolicLink() });
  }
  return entries;
}

async function kindOf(root: string, path: string, found: Dirent): Promise<FileEntry['kind'] | undefined> {
  const place = found.isSymbolicLink() ? await findPlace(root, path).catch(() => undefined) : { stats: found };
  if (place?.stats?.isFile()) return 'file';
  return place?.stats?.isDirectory() ? 'directory' : undefined;
}
