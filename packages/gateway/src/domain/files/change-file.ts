import { FilesystemError } from '@lastcall/core/files';
import { encodeText } from '@lastcall/core/internal';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError, type ErrorCode } from '../api-error.ts';
import { storedPath } from './file-path.ts';
import { type FileLimits, FileTree } from './file-tree.ts';
import { type FileChanger, findFile, listPaths, type StoredFile } from './stored-file.ts';
import { forgetUndoOf, writeFiles } from './write-files.ts';

/** A change by a person or a service. Its transaction has locked the thread: until its commit no call ends, and the agent is not deleted. */
export interface OwnChange {
  readonly threadId: string;
  readonly path: string;
  readonly by: FileChanger;
}

/**
 * Writes a file. A run that is under way sees it with its next read, and if a call of the run has written the same file, the one that is
 * stored last stays. A rewind leaves it alone.
 */
export async function putFile(
  tx: Tx,
  { threadId, by, path: given }: OwnChange,
  { content, limits }: { readonly content: string; readonly limits: FileLimits },
): Promise<StoredFile> {
  return await orRefuse(async () => {
    const path = storedPath(given);
    const size = encodeText(path, content).byteLength;
    const rows = await listPaths(tx.db, threadId);
    const tree = new FileTree(rows.map((row) => [row.path, { size: row.size, modifiedAt: row.changed_at }] as const));
    tree.assertWritable(path, size, limits);
    writeFiles(tx, { threadId, by, canRewind: false, files: [{ path, text: content }] });
    forgetUndoOf(tx, threadId, path);
    return { path, size, changedAt: tx.now(), changedBy: by };
  });
}

/** Deletes a file, and returns its path as it was stored. Throws 404 if there is none. */
export async function removeFile(tx: Tx, { threadId, by, path: given }: OwnChange): Promise<string> {
  return await orRefuse(async () => {
    const path = storedPath(given);
    if ((await findFile(tx.db, threadId, path)) === undefined) throw noFile(path);
    writeFiles(tx, { threadId, by, canRewind: false, files: [{ path, text: undefined }] });
    forgetUndoOf(tx, threadId, path);
    return path;
  });
}

/** Throws 404 if there is none. */
export async function getFile(
  { db }: Tx,
  { threadId, path: given }: Omit<OwnChange, 'by'>,
): Promise<StoredFile & { readonly text: string }> {
  return await orRefuse(async () => {
    const path = storedPath(given);
    const found = await findFile(db, threadId, path);
    if (found === undefined) throw noFile(path);
    return found;
  });
}

function noFile(path: string): ApiError {
  return new ApiError('not_found', `There is no file ${JSON.stringify(path)}.`);
}

async function orRefuse<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FilesystemError
      ? new ApiError(CODES[error.code] ?? 'invalid_request', error.message, { details: { path: 'path' }, cause: error })
      : error;
  }
}

const CODES: Readonly<Record<string, ErrorCode>> = { too_large: 'too_large' };
