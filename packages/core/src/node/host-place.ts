import type { Stats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { dirname, join, parse, relative, sep } from 'node:path';
import { FilesystemError } from '../errors.ts';
import { toFilesystemError, unless } from './host-error.ts';

/** Where a path leads on the host. Every symbolic link has been followed and stays inside the root. */
export interface HostPlace {
  /** The path as the caller wrote it; errors name it. */
  readonly path: string;
  /** The absolute path, with every link resolved. */
  readonly real: string;
  /** The link itself, if the path names one. */
  readonly link: string | undefined;
  readonly stats: Stats | undefined;
  /** Missing directories above `real`, the topmost first. */
  readonly missing: readonly string[];
}

/**
 * Follows a normalised path link by link. The host's own realpath cannot resolve paths that do not exist yet, and a
 * write through a dangling link could leave the root.
 */
export async function findPlace(root: string, path: string): Promise<HostPlace> {
  const walk: Walk = { path, pending: path.split('/'), real: root, link: undefined, missing: [], links: 0 };
  for (let name = walk.pending.shift(); name !== undefined; name = walk.pending.shift()) await step(walk, name);
  const { real, link, missing } = walk;
  if (!isInside(root, real)) {
    throw new FilesystemError('outside_root', path, 'leads out of the root through a symbolic link.');
  }
  const stats = missing.length > 0 ? undefined : await look(path, real);
  return { path, real, link, stats, missing: missing.slice(0, -1) };
}

/** Refuses a saved path whose directory was replaced by a link since: an undo must not write through it. */
export async function assertNotMoved(root: string, path: string, real: string): Promise<void> {
  const above = await findPlace(root, relative(root, dirname(real)).split(sep).join('/'));
  if (above.real === dirname(real)) return;
  throw new FilesystemError('outside_root', path, 'its directory was replaced by a symbolic link meanwhile.');
}

interface Walk extends Pick<HostPlace, 'path'> {
  readonly pending: string[];
  real: string;
  link: string | undefined;
  missing: string[];
  links: number;
}

async function step(walk: Walk, name: string): Promise<void> {
  if (name === '' || name === '.') return;
  if (name === '..') {
    walk.real = dirname(walk.real);
    walk.missing.pop();
    return;
  }
  const next = join(walk.real, name);
  const stats = await look(walk.path, next);
  if (stats?.isSymbolicLink()) return follow(walk, next);
  walk.real = next;
  walk.missing = stats ? [] : [...walk.missing, next];
}

/** Linux follows 40 links too; a longer chain is treated as a loop. */
const MAX_LINKS = 40;

async function follow(walk: Walk, link: string): Promise<void> {
  walk.links += 1;
  if (walk.links > MAX_LINKS) {
    throw new FilesystemError('bad_path', walk.path, 'leads through symbolic links in a circle.');
  }
  if (walk.pending.length === 0) walk.link ??= link;
  const target = await readTarget(walk.path, link);
  const start = parse(target).root;
  if (start !== '') walk.real = start;
  walk.pending.unshift(...target.slice(start.length).split(sep));
}

function isInside(root: string, real: string): boolean {
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
}

async function look(path: string, at: string): Promise<Stats | undefined> {
  try {
    return await unless(['ENOENT'], lstat(at));
  } catch (error) {
    throw toFilesystemError(path, error);
  }
}

async function readTarget(path: string, link: string): Promise<string> {
  try {
    return await readlink(link);
  } catch (error) {
    throw toFilesystemError(path, error);
  }
}
