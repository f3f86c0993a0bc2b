import { constants, type Stats } from 'node:fs';
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FilesystemError, LastcallError } from '../errors.ts';
import { assertFileSize } from '../files/file-text.ts';
import type { WriteMode } from '../files/filesystem.ts';
import { ioError, toFilesystemError, unless } from './host-error.ts';
import type { HostPlace } from './host-place.ts';

/** The bytes of a file. Refuses anything that is not a file, and files over the limit. */
export async function readFileBytes(place: HostPlace, maxFileBytes: number): Promise<Uint8Array> {
  if (!place.stats)
    throw new FilesystemError('not_found', place.path, 'is not there. List its directory to see what is.');
  assertIsFile(place.path, place.stats);
  try {
    return await withOpenFile(place, constants.O_RDONLY, (handle) => readAll(handle, place.path, maxFileBytes));
  } catch (error) {
    throw toFilesystemError(place.path, error);
  }
}

/** Creates missing directories and writes in place: the file keeps its owner, its mode and its other names. */
export async function writeFileBytes(place: HostPlace, bytes: Uint8Array, mode: WriteMode): Promise<void> {
  try {
    for (const directory of place.missing) await unless(['EEXIST'], mkdir(directory));
    await withOpenFile(place, constants.O_WRONLY | FLAGS[mode], async (handle) => {
      if (mode === 'overwrite') await handle.truncate(0);
      await handle.writeFile(bytes);
    });
  } catch (error) {
    if (error instanceof LastcallError) throw error;
    throw mode === 'create' ? toCreateError(place.path, error) : ioError(place.path, error);
  }
}

/** Refuses a write that cannot succeed before anything is changed. */
export function assertWritable(place: HostPlace, size: number, mode: WriteMode, maxFileBytes: number): void {
  if (place.stats) assertIsFile(place.path, place.stats);
  if (place.stats && mode === 'create') {
    throw new FilesystemError('already_exists', place.path, "is there already. Use mode 'overwrite' to replace it.");
  }
  const kept = mode === 'append' ? (place.stats?.size ?? 0) : 0;
  assertFileSize(place.path, kept + size, maxFileBytes);
}

export function assertIsFile(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw new FilesystemError('is_directory', path, 'is a directory, not a file.');
  throw new FilesystemError('special_file', path, 'is neither a file nor a directory.');
}

/**
 * Opens a file while it is used. The path had no links when it was checked. If a link has replaced the file since, it
 * is not followed; if a pipe has, it is not waited for; and a directory that became a link is noticed before a byte is
 * read or changed.
 */
export async function withOpenFile<T>(
  { path, real }: HostPlace,
  flags: number,
  use: (handle: FileHandle) => Promise<T>,
): Promise<T> {
  const handle = await open(real, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o666);
  try {
    assertIsFile(path, await handle.stat());
    if ((await realpath(dirname(real))) !== dirname(real)) {
      throw new FilesystemError('outside_root', path, 'its directory was replaced by a symbolic link meanwhile.');
    }
    return await use(handle);
  } finally {
    await handle.close();
  }
}

const FLAGS: Readonly<Record<WriteMode, number>> = {
  create: constants.O_CREAT | constants.O_EXCL,
  overwrite: constants.O_CREAT,
  append: constants.O_CREAT | constants.O_APPEND,
};

async function readAll(handle: FileHandle, path: string, maxFileBytes: number): Promise<Uint8Array> {
  const { size } = await handle.stat();
  assertFileSize(path, size, maxFileBytes);
  const bytes = await handle.readFile();
  assertFileSize(path, bytes.byteLength, maxFileBytes);
  return bytes;
}

/** Another process may have created the file since the check. */
function toCreateError(path: string, error: unknown): LastcallError {
  const refusal = toFilesystemError(path, error);
  return refusal.code === 'already_exists' ? refusal : ioError(path, error);
}
