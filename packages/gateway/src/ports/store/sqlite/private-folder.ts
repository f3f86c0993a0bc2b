import { chmodSync, closeSync, fchmodSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StoreRefused } from '../store-error.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS = 0o077;

/**
 * Creates the folder, with access for its owner only: it holds conversations and the secret that signs tokens. The mode
 * is also set after the creation, because the umask removes bits from a new folder, and an existing folder may be open
 * to others.
 */
export function makePrivateFolder(folder: string): void {
  orRefuse(folder, () => makeFolder(folder));
  restrict(folder, () => chmodSync(folder, FOLDER_MODE));
}

/**
 * Creates the database files with access for their owner only, before SQLite opens them. SQLite gives the files next to
 * a database (`-wal`, `-shm`, `-journal`) the mode of the database. Files from an earlier start are restricted here.
 */
export function makePrivateDatabase(folder: string, name: string): string {
  const file = join(folder, name);
  const descriptor = orRefuse(folder, () => openSync(file, 'a', FILE_MODE));
  try {
    restrict(file, () => fchmodSync(descriptor, FILE_MODE));
  } finally {
    closeSync(descriptor);
  }
  for (const suffix of ['-wal', '-shm', '-journal']) restrictIfThere(`${file}${suffix}`);
  return file;
}

/** Without `recursive` of Node, which never ends in a folder that answers ENOENT to a creation, such as /proc. */
function makeFolder(folder: string): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder && statSync(parent, { throwIfNoEntry: false }) === undefined) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: FOLDER_MODE });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function orRefuse<T>(folder: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    throw new StoreRefused(
      `The folder "${folder}" cannot be written to (${code}). Set LASTCALL_HOME to a folder that this user may write to, or change the permissions of this one.`,
      { cause },
    );
  }
}

function restrictIfThere(file: string): void {
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) restrict(file, () => chmodSync(file, FILE_MODE));
}

/**
 * If the mode cannot be changed, the path may still be used if other users have no access to it. Windows has no such
 * modes.
 */
function restrict(path: string, change: () => void): void {
  try {
    change();
  } catch (cause) {
    if (process.platform === 'win32' || (statSync(path).mode & OTHERS) === 0) return;
    throw new StoreRefused(
      `"${path}" can be read by others, and its permissions cannot be changed. Set LASTCALL_HOME to a folder that this user owns, e.g. a new one inside it.`,
      { cause },
    );
  }
}
