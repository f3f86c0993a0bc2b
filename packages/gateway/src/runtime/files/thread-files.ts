import {
  type ChangedFile,
  type FileEntry,
  type FileMatch,
  type FileStat,
  type Filesystem,
  FilesystemError,
  type WriteMode,
} from '@lastcall/core/files';
import { encodeText, matchLines, parsePathPattern, writeModeOf } from '@lastcall/core/internal';
import { storedPath } from '../../domain/files/file-path.ts';
import { type FileLimits, FileTree } from '../../domain/files/file-tree.ts';
import { findFile, findTexts, listPaths } from '../../domain/files/stored-file.ts';
import type { CurrentRun } from '../toolset/current-run.ts';

interface ThreadFilesOptions {
  readonly threadId: string;
  readonly limits: FileLimits;
  /** Reads the store. */
  readonly read: CurrentRun['read'];
}

/** What a call has written and the store does not have yet. Without a text, the file was deleted. */
interface Unsaved {
  readonly text: string | undefined;
  readonly modifiedAt: number;
}

/**
 * The files of an agent or of a conversation, as one run sees them. Reads go to the store, so that a run sees what people write while
 * it is under way. What a call writes stays here until its end is stored: the journal stores both in one transaction. A run that uses
 * no files reads nothing.
 *
 *     call        write a, write b          end of the call
 *     here        unsaved: a, b   ─────────▶ nothing is unsaved
 *     store                                  a and b, with the end of the call
 *
 * Only one call that may write runs at a time, so everything that is unsaved belongs to it.
 */
export class ThreadFiles implements Filesystem {
  readonly isJournaled = true;
  readonly #options: ThreadFilesOptions;
  readonly #unsaved = new Map<string, Unsaved>();
  /** All paths, including what is unsaved. It is read again unless something is unsaved. */
  #tree: Promise<FileTree> | undefined;

  constructor(options: ThreadFilesOptions) {
    this.#options = options;
  }

  /** Those of the files that differ from what the store has. Files that a nested call changed and restored do not. */
  unsavedOf(files: readonly ChangedFile[]): readonly ChangedFile[] {
    return files.filter(({ path }) => this.#unsaved.has(path));
  }

  /** The store has these files now. */
  saved(files: readonly ChangedFile[]): void {
    for (const { path } of files) this.#unsaved.delete(path);
    this.#tree = undefined;
  }

  /** The store has the files as they were at the checkpoint. */
  rewound(): void {
    this.#unsaved.clear();
    this.#tree = undefined;
  }

  /** The texts that the store has of these files. A larger one is undefined. */
  async storedTexts(paths: readonly string[], maxBytes: number): Promise<ReadonlyMap<string, string | undefined>> {
    const { threadId, read } = this.#options;
    return await read((db) => findTexts(db, { threadId, paths, maxBytes }));
  }

  async readText(given: string): Promise<string> {
    const path = storedPath(given);
    const text = await this.#textAt(path);
    return text ?? (await this.#missing(path));
  }

  async writeText(given: string, text: string, options?: { mode?: WriteMode }): Promise<void> {
    const [path, mode] = [storedPath(given), writeModeOf(options)];
    const added = encodeText(path, text).byteLength;
    const tree = await this.#paths();
    const known = tree.files.get(path);
    const kept = mode === 'append' ? known : undefined;
    const size = added + (kept?.size ?? 0);
    tree.assertWritable(path, size, this.#options.limits);
    if (known !== undefined && mode === 'create')
      throw new FilesystemError('already_exists', path, "is there already. Use mode 'overwrite' to replace it.");
    const before = kept === undefined ? '' : ((await this.#textAt(path)) ?? '');
    const modifiedAt = Date.now();
    this.#unsaved.set(path, { text: before + text, modifiedAt });
    tree.set(path, { size, modifiedAt });
  }

  async delete(given: string): Promise<void> {
    const path = storedPath(given);
    if (path === '') throw new FilesystemError('bad_path', path, 'is the root, which cannot be deleted.');
    const tree = await this.#paths();
    if (!tree.files.has(path)) {
      if (tree.isDirectory(path))
        throw new FilesystemError('not_empty', path, 'is not empty. Delete what is in it first.');
      await this.#missing(path);
    }
    this.#unsaved.set(path, { text: undefined, modifiedAt: Date.now() });
    tree.delete(path);
  }

  async list(given = ''): Promise<FileEntry[]> {
    const path = storedPath(given);
    const tree = await this.#paths();
    if (tree.files.has(path)) throw new FilesystemError('not_directory', path, 'is a file, not a directory.');
    if (!tree.isDirectory(path)) await this.#missing(path);
    const start = path === '' ? '' : `${path}/`;
    const entries = new Map<string, FileEntry>();
    for (const file of tree.files.keys()) {
      if (!file.startsWith(start)) continue;
      const [name = '', ...below] = file.slice(start.length).split('/');
      const kind = below.length === 0 ? 'file' : 'directory';
      if (kind === 'file' || !entries.has(name)) entries.set(name, { name, path: start + name, kind });
    }
    return [...entries.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  async stat(given: string): Promise<FileStat> {
    const path = storedPath(given);
    const tree = await this.#paths();
    const file = tree.files.get(path);
    if (file !== undefined) return { kind: 'file', ...file };
    if (!tree.isDirectory(path)) await this.#missing(path);
    const start = path === '' ? '' : `${path}/`;
    const below = [...tree.files].flatMap(([one, { modifiedAt }]) => (one.startsWith(start) ? [modifiedAt] : []));
    return { kind: 'directory', size: 0, modifiedAt: below.reduce((one, other) => Math.max(one, other), 0) };
  }

  async glob(pattern: string): Promise<string[]> {
    return match(pattern, await this.#paths());
  }

  async grep(
    pattern: string | RegExp,
    { glob = '**', limit }: { glob?: string; limit?: number } = {},
  ): Promise<FileMatch[]> {
    const tree = await this.#paths();
    const paths = match(glob, tree);
    return await matchLines({ pattern, limit, paths, read: this.#reader(paths, tree) });
  }

  /** What the store has does not change before the end of the call, so only what is unsaved has to be restored. */
  async capture(given: string): Promise<() => Promise<void>> {
    const path = storedPath(given);
    const before = this.#unsaved.get(path);
    return async () => {
      if (before === undefined) this.#unsaved.delete(path);
      else this.#unsaved.set(path, before);
      this.#tree = undefined;
    };
  }

  /** Undefined if there is no such file. */
  async #textAt(path: string): Promise<string | undefined> {
    const unsaved = this.#unsaved.get(path);
    if (unsaved !== undefined) return unsaved.text;
    const { threadId, read } = this.#options;
    return (await read((db) => findFile(db, threadId, path)))?.text;
  }

  /** Explains why there is no file. */
  async #missing(path: string): Promise<never> {
    const tree = await this.#paths();
    tree.assertNoFileAbove(path);
    if (tree.isDirectory(path)) throw new FilesystemError('is_directory', path, 'is a directory, not a file.');
    throw new FilesystemError('not_found', path, 'is not there. List its directory to see what is.');
  }

  async #paths(): Promise<FileTree> {
    if (this.#unsaved.size === 0) this.#tree = undefined;
    this.#tree ??= this.#readPaths();
    const reading = this.#tree;
    try {
      return await reading;
    } catch (error) {
      if (this.#tree === reading) this.#tree = undefined;
      throw error;
    }
  }

  async #readPaths(): Promise<FileTree> {
    const { threadId, read } = this.#options;
    const rows = await read((db) => listPaths(db, threadId));
    const tree = new FileTree(rows.map(({ path, size, changed_at }) => [path, { size, modifiedAt: changed_at }]));
    for (const [path, { text, modifiedAt }] of this.#unsaved) {
      if (text === undefined) tree.delete(path);
      else tree.set(path, { size: Buffer.byteLength(text), modifiedAt });
    }
    return tree;
  }

  /**
   * Reads the files of a search, which asks for them in their order, in a few queries. Each has about a megabyte, because a search may
   * end early.
   */
  #reader(paths: readonly string[], { files }: FileTree): (path: string) => Promise<string | undefined> {
    let texts: ReadonlyMap<string, string | undefined> = new Map();
    let [asked, loaded] = [0, 0];
    return async (path) => {
      const unsaved = this.#unsaved.get(path);
      if (asked++ === loaded) {
        const start = loaded;
        for (let bytes = 0; loaded < paths.length && bytes < BATCH_BYTES && loaded - start < BATCH_FILES; loaded++)
          bytes += files.get(paths[loaded] as string)?.size ?? 0;
        texts = await this.storedTexts(paths.slice(start, loaded), Number.MAX_SAFE_INTEGER);
      }
      return unsaved === undefined ? texts.get(path) : unsaved.text;
    };
  }
}

const BATCH_BYTES = 1_000_000;
const BATCH_FILES = 500;

function match(pattern: string, { files }: FileTree): string[] {
  const { base, matches } = parsePathPattern(pattern);
  const start = storedPath(base);
  const below = [...files.keys()].filter((path) => start === '' || path.startsWith(`${start}/`));
  return below.filter(matches).sort();
}
