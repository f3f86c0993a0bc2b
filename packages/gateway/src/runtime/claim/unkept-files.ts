import { type Filesystem, FilesystemError, memoryFilesystem } from '@lastcall/core/files';

/**
 * The file system of an agent's tools: it is empty and read-only. A file that a tool wrote would be lost with the
 * run, without any error.
 */
export const UNKEPT_FILES: Filesystem = {
  ...memoryFilesystem(),
  writeText: (path) => refuse(path),
  delete: (path) => refuse(path),
};

async function refuse(path: string): Promise<never> {
  throw new FilesystemError(
    'not_kept',
    path,
    'files that the tool of an agent in a gateway writes are not kept. Keep state in a slice of the session, or get files that last from a resource with the key "filesystem".',
  );
}
