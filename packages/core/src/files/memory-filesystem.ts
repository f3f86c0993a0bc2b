import type { Clock } from '../clock.ts';
import { systemClock } from '../defaults.ts';
import { FilesystemError } from '../errors.ts';
import { assertPathLimits, normalisePath, type PathLimits } from './file-path.ts';
import { assertFileSize, assertMaxFileBytes, DEFAULT_MAX_FILE_BYTES, encodeText } from './file-text.ts';
import type { FileEntry, FileStat, Filesystem, WriteMode } from './filesystem.ts';
import { matchLines } from './match-lines.ts';
import {
  assertNoFileAbove,
  type DirectoryNode,
  directoryNode,
  type FileNode,
  filesBelow,
  findNode,
  missingAbove,
  putNode,
  removeNode,
  type TreeNode,
} from './memory-tree.ts';
import { parsePathPattern } from './path-pattern.ts';
import { writeModeOf } from './write-mode.ts';

export interface MemoryFilesystemOptions {
  /** The initial files: texts by path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly limits?: Partial<PathLimits>;
  /** The maximum size of one file. Default: 10 MiB. */
  readonly maxFileBytes?: number;
  /** Sets the modification times. Default: the system's clock. */
  readonly clock?: Clock;
}

/** A file system in memory, which is lost with it. */
export function memoryFilesystem(options: MemoryFilesystemOptions = {}): Filesystem {
  const { files = {}, limits = {}, maxFileBytes = DEFAULT_MAX_FILE_BYTES, clock = systemClock } = options;
  assertPathLimits(limits);
  assertMaxFileBytes(maxFileBytes);
  const root = directoryNode(clock.now());
  const at = (path: string): string => normalisePath(path, limits);

  function write(path: string, text: string, mode: WriteMode): void {
    const added = encodeText(path, text).byteLength;
    const before = fileToWrite(root, path, mode);
    const kept = mode === 'append' ? before : undefined;
    const size = added + (kept?.size ?? 0);
    assertFileSize(path, size, maxFileBytes);
    putNode(root, path, { kind: 'file', text: (kept?.text ?? '') + text, size, modifiedAt: clock.now() });
  }

  for (const [path, text] of Object.entries(files)) write(at(path), text, 'create');

  return {
    readText: async (path) => existingFile(root, at(path)).text,
    writeText: async (path, text, options) => write(at(path), text, writeModeOf(options)),
    delete: async (path) => deleteNode(root, at(path)),
    list: async (path = '') => listDirectory(root, at(path)),
    stat: async (path) => toStat(existing(root, at(path))),
    glob: async (pattern) => globFiles(root, pattern, at),
    async grep(pattern, { glob = '**', limit } = {}) {
      const read = async (path: string): Promise<string> => existingFile(root, path).text;
      return matchLines({ pattern, limit, paths: globFiles(root, glob, at), read });
    },
    capture: async (path) => capture(root, at(path)),
  };
}

function existing(root: DirectoryNode, path: string): TreeNode {
  const node = findNode(root, path);
  if (!node) assertNoFileAbove(root, path);
  if (!node) throw new FilesystemError('not_found', path, 'is not there. List its directory to see what is.');
  return node;
}

function existingFile(root: DirectoryNode, path: string): FileNode {
  const node = existing(root, path);
  if (node.kind === 'directory') throw new FilesystemError('is_directory', path, 'is a directory, not a file.');
  return node;
}

function fileToWrite(root: DirectoryNode, path: string, mode: WriteMode): FileNode | undefined {
  assertNoFileAbove(root, path);
  const node = findNode(root, path);
  if (node?.kind === 'directory') throw new FilesystemError('is_directory', path, 'is a directory, not a file.');
  if (node && mode === 'create') {
    throw new FilesystemError('already_exists', path, "is there already. Use mode 'overwrite' to replace it.");
  }
  return node;
}

function deleteNode(root: DirectoryNode, path: string): void {
  if (path === '') throw new FilesystemError('bad_path', path, 'is the root, which cannot be deleted.');
  const node = existing(root, path);
  if (holdsSomething(node)) throw new FilesystemError('not_empty', path, 'is not empty. Delete what is in it first.');
  removeNode(root, path);
}

function listDirectory(root: DirectoryNode, path: string): FileEntry[] {
  const node = existing(root, path);
  if (node.kind === 'file') throw new FilesystemError('not_directory', path, 'is a file, not a directory.');
  return [...node.children.keys()].sort().map((name) => ({
    name,
    path: path === '' ? name : `${path}/${name}`,
    kind: (node.children.get(name) as TreeNode).kind,
  }));
}

function toStat(node: TreeNode): FileStat {
  return { kind: node.kind, size: node.kind === 'file' ? node.size : 0, modifiedAt: node.modifiedAt };
}

function globFiles(root: DirectoryNode, pattern: string, at: (path: string) => string): string[] {
  const { base, matches } = parsePathPattern(pattern);
  const start = at(base);
  const directory = findNode(root, start);
  if (directory?.kind !== 'directory') return [];
  const paths = Array.from(filesBelow(directory, start), ([path]) => path);
  return paths.filter(matches).sort();
}

/** Nothing is copied: a file's node never changes, and only an empty directory can be deleted. */
function capture(root: DirectoryNode, path: string): () => Promise<void> {
  assertNoFileAbove(root, path);
  const node = findNode(root, path);
  if (!node) {
    const missing = missingAbove(root, path);
    return async () => takeAway(root, path, missing);
  }
  if (node.kind === 'file') return async () => putBack(root, path, node);
  return async () => {
    if (findNode(root, path)?.kind !== 'directory') putBack(root, path, directoryNode(node.modifiedAt));
  };
}

function takeAway(root: DirectoryNode, path: string, missingAbove: readonly string[]): void {
  if (!holdsSomething(findNode(root, path))) removeNode(root, path);
  for (const directory of missingAbove) {
    const node = findNode(root, directory);
    if (node?.kind === 'directory' && !holdsSomething(node)) removeNode(root, directory);
  }
}

function putBack(root: DirectoryNode, path: string, node: TreeNode): void {
  if (holdsSomething(findNode(root, path))) {
    throw new FilesystemError('not_empty', path, 'is now a directory that others filled: it was not put back.');
  }
  putNode(root, path, node);
}

function holdsSomething(node: TreeNode | undefined): boolean {
  return node?.kind === 'directory' && node.children.size > 0;
}
