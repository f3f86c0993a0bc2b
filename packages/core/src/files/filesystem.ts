/**
 * A tree of text files. Paths are relative to its root, with `/` between names; `a/./b`, `/a/b` and `a/b` are one path.
 * Every operation rejects with a FilesystemError that says what to do. Any code but `io` is a refusal: nothing was changed.
 */
export interface Filesystem {
  /**
   * True if a journal stores the files. A journal then gets what a call changed with the end of the call, as `Staged.files`, and has to
   * restore the files when it records a rewind. Default: the file system keeps its files itself.
   */
  readonly isJournaled?: boolean;
  readText(path: string): Promise<string>;
  /** Creates missing directories above the file. Default mode: 'overwrite', which also creates the file. */
  writeText(path: string, text: string, options?: { mode?: WriteMode }): Promise<void>;
  /** Deletes a file or an empty directory. */
  delete(path: string): Promise<void>;
  /** The direct entries of a directory, sorted by name. Default: the root. */
  list(path?: string): Promise<FileEntry[]>;
  stat(path: string): Promise<FileStat>;
  /**
   * Paths of files that match, sorted: `**` crosses directories, `*` and `?` do not, `{a,b}` is either. Names that
   * start with a dot match like any other.
   */
  glob(pattern: string): Promise<string[]>;
  /**
   * Lines that contain a text or match an expression, in order of path and line. At most 1,000 unless `limit` says
   * otherwise. Files that are not text are skipped.
   */
  grep(pattern: string | RegExp, options?: { glob?: string; limit?: number }): Promise<FileMatch[]>;
  /**
   * Saves the current state of a path and returns a function that restores it: its text, its absence, and the absence
   * of the directories above it. Other files are left alone. This is what lets a call on the file system be undone.
   */
  capture(path: string): Promise<() => Promise<void>>;
}

/** `create` refuses an existing file; `overwrite` and `append` create a missing one. */
export type WriteMode = 'create' | 'overwrite' | 'append';

export interface FileEntry {
  readonly name: string;
  readonly path: string;
  readonly kind: 'file' | 'directory';
}

export interface FileStat {
  readonly kind: 'file' | 'directory';
  /** In bytes. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

/** A file that a call wrote or deleted. */
export interface ChangedFile {
  readonly path: string;
  /** Undefined if the file is not there any more. */
  readonly text: string | undefined;
}

export interface FileMatch {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}
