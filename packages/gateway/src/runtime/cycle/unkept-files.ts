import { type Filesystem, FilesystemError, memoryFilesystem } from '@lastcall/core/files';

/**
 * The files of an agent's tools: there are none, and none can be written. What a tool wrote would be gone with the cycle, and nothing
 * would say so.
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
