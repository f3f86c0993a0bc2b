import { FilesystemError } from '@lastcall/core/files';
import { assertFileSize } from '@lastcall/core/internal';
import type { AgentLimits } from '../../config/agent-limits.ts';

export type FileLimits = Pick<AgentLimits, 'fileBytes' | 'filesBytes' | 'maxFiles'>;

interface FileFacts {
  readonly size: number;
  readonly modifiedAt: number;
}

/**
 * The paths of the files of a thread, with their sizes. Only files are stored: a directory is there as long as a file is in it. The
 * checks are those that a write by a tool and one by a person have in common.
 */
export class FileTree {
  readonly files: Map<string, FileFacts>;
  #bytes = 0;

  constructor(files: Iterable<readonly [string, FileFacts]>) {
    this.files = new Map(files);
    for (const { size } of this.files.values()) this.#bytes += size;
  }

  set(path: string, facts: FileFacts): void {
    this.#bytes += facts.size - (this.files.get(path)?.size ?? 0);
    this.files.set(path, facts);
  }

  delete(path: string): void {
    this.#bytes -= this.files.get(path)?.size ?? 0;
    this.files.delete(path);
  }

  isDirectory(path: string): boolean {
    if (path === '') return true;
    for (const file of this.files.keys()) if (file.startsWith(`${path}/`)) return true;
    return false;
  }

  /** Throws a FilesystemError if there can be no file of this size at this path. */
  assertWritable(path: string, size: number, { fileBytes, filesBytes, maxFiles }: FileLimits): void {
    assertFileSize(path, size, fileBytes);
    this.assertNoFileAbove(path);
    if (this.isDirectory(path)) throw new FilesystemError('is_directory', path, 'is a directory, not a file.');
    const known = this.files.get(path);
    const bytes = this.#bytes + size - (known?.size ?? 0);
    // A file that shrinks is accepted even over a limit that was lowered.
    if (bytes > filesBytes && bytes > this.#bytes)
      throw new FilesystemError(
        'too_large',
        path,
        `all files together would have ${bytes} bytes, over the limit of ${filesBytes}. Delete files first.`,
      );
    if (known === undefined && this.files.size >= maxFiles)
      throw new FilesystemError('too_large', path, `would be over the limit of ${maxFiles} files. Delete files first.`);
  }

  /** Throws if there can be nothing at the path, because it leads through a file. */
  assertNoFileAbove(path: string): void {
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
      if (this.files.has(path.slice(0, at)))
        throw new FilesystemError('not_directory', path, 'leads through a file as if it were a directory.');
  }
}
