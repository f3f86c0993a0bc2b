import { constants, type Stats } from 'node:fs';
import {
  chmod,
  chown,
  type FileHandle,
  lstat,
  mkdir,
  readlink,
  rmdir,
  symlink,
  unlink,
  utimes,
} from 'node:fs/promises';
import { dirname } from 'node:path';
import { LastcallError } from '../errors.ts';
import { toFilesystemError, unless } from './host-error.ts';
import { readFileBytes, withOpenFile } from './host-file.ts';
import { assertNotMoved, type HostPlace } from './host-place.ts';

type Undo = () => Promise<void>;

interface HostRoot {
  readonly root: string;
  readonly maxFileBytes: number;
}

/**
 * Saves what exists at a place, and a link that led there. A file too large to be saved is refused, because it could
 * not be restored. The dates of the directories above are not saved: restoring them would hide what others did.
 */
export async function captureHostPath(host: HostRoot, place: HostPlace): Promise<Undo> {
  const undos = [place.link === undefined ? undefined : await captureLink(host, place, place.link)];
  undos.push(await captureTarget(host, place));
  return async () => {
    for (const undo of undos) {
      await undo?.().catch((error) => {
        throw toFilesystemError(place.path, error);
      });
    }
  };
}

async function captureLink({ root }: HostRoot, { path }: HostPlace, link: string): Promise<Undo> {
  const target = await readlink(link).catch((error) => {
    throw toFilesystemError(path, error);
  });
  return async () => {
    await assertNotMoved(root, path, link);
    if ((await unless(['ENOENT', 'ENOTDIR', 'EINVAL'], readlink(link))) === target) return;
    await clearWay(link);
    await symlink(target, link);
  };
}

async function captureTarget({ root, maxFileBytes }: HostRoot, place: HostPlace): Promise<Undo> {
  const { path, real, stats } = place;
  if (real === root) return async () => {};
  if (!stats) return () => takeAway(root, place);
  const bytes = stats.isDirectory() ? undefined : await readFileBytes(place, maxFileBytes);
  return async () => {
    await assertNotMoved(root, path, real);
    await (bytes ? putBackFile(place, bytes, stats) : putBackDirectory(real, stats));
  };
}

async function takeAway(root: string, { path, real, missing }: HostPlace): Promise<void> {
  try {
    await assertNotMoved(root, path, real);
  } catch (error) {
    // Another process put a file where a directory above was, so nothing can exist here.
    if (error instanceof LastcallError && error.code === 'not_directory') return;
    throw error;
  }
  const stats = await unless(['ENOENT', 'ENOTDIR'], lstat(real));
  if (stats?.isDirectory()) await removeIfEmpty(real);
  else if (stats) await unlink(real);
  for (const directory of missing.toReversed()) await removeIfEmpty(directory);
}

async function putBackDirectory(real: string, was: Stats): Promise<void> {
  const before = await unless(['ENOENT', 'ENOTDIR'], lstat(real));
  if (!before?.isDirectory()) {
    await clearWay(real);
    await mkdir(real);
  }
  const now = await lstat(real);
  if (isOwnedOtherwise(now, was)) await chown(real, was.uid, was.gid);
  if (isOwnedOtherwise(now, was) || now.mode !== was.mode) await chmod(real, permissionsOf(was));
  if (!before?.isDirectory()) await utimes(real, was.atimeMs / 1000, was.mtimeMs / 1000);
}

/** A file that already has the right bytes is not written: a write may be forbidden, and others may watch the file. */
async function putBackFile(place: HostPlace, bytes: Uint8Array, was: Stats): Promise<void> {
  if (!(await holdsBytes(place, bytes))) await writeAnew(place, bytes);
  await withOpenFile(place, constants.O_RDONLY, (handle) => putBackStats(handle, was));
}

async function holdsBytes(place: HostPlace, bytes: Uint8Array): Promise<boolean> {
  const stats = await unless(['ENOENT', 'ENOTDIR'], lstat(place.real));
  if (!stats?.isFile() || stats.size !== bytes.byteLength) return false;
  const now = await withOpenFile(place, constants.O_RDONLY, (handle) => handle.readFile());
  return now.equals(bytes);
}

async function writeAnew(place: HostPlace, bytes: Uint8Array): Promise<void> {
  const stats = await unless(['ENOENT', 'ENOTDIR'], lstat(place.real));
  if (!stats?.isFile()) await clearWay(place.real);
  await withOpenFile(place, constants.O_WRONLY | constants.O_CREAT, async (handle) => {
    await handle.truncate(0);
    await handle.writeFile(bytes);
  });
}

async function putBackStats(handle: FileHandle, was: Stats): Promise<void> {
  const now = await handle.stat();
  // The owner first: changing it drops the setuid bits of the mode.
  if (isOwnedOtherwise(now, was)) await handle.chown(was.uid, was.gid);
  if (isOwnedOtherwise(now, was) || now.mode !== was.mode) await handle.chmod(permissionsOf(was));
  if (now.mtimeMs !== was.mtimeMs) await handle.utimes(was.atimeMs / 1000, was.mtimeMs / 1000);
}

/** Removes what took the place of the saved entry, and creates missing directories above it. */
async function clearWay(at: string): Promise<void> {
  await mkdir(dirname(at), { recursive: true });
  const stats = await unless(['ENOENT'], lstat(at));
  if (stats?.isDirectory()) await rmdir(at);
  else if (stats) await unlink(at);
}

/** A file that others put into our directory keeps the directory. */
async function removeIfEmpty(directory: string): Promise<void> {
  await unless(['ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'], rmdir(directory));
}

function isOwnedOtherwise(now: Stats, was: Stats): boolean {
  return now.uid !== was.uid || now.gid !== was.gid;
}

function permissionsOf(stats: Stats): number {
  return stats.mode & 0o7777;
}
