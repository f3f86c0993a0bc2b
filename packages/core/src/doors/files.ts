// The public door of @lastcall/core/files: files in memory, and what a file system of your own implements.

export { FilesystemError, type FilesystemErrorCode } from '../errors.ts';
export type { ChangedFile, FileEntry, FileMatch, FileStat, Filesystem, WriteMode } from '../files/filesystem.ts';
export { memoryFilesystem } from '../files/memory-filesystem.ts';
