import type { PathLimits } from '../../src/files/file-path.ts';
import type { Filesystem } from '../../src/files/filesystem.ts';
import { memoryFilesystem } from '../../src/files/memory-filesystem.ts';
import { hostFilesystem } from '../../src/node/host-filesystem.ts';
import { scratchDirectory } from './scratch-directory.ts';

type Options = { limits?: Partial<PathLimits>; maxFileBytes?: number };

/** The file systems that share one contract: `describe.each(eachFilesystem)` runs a suite for all of them. */
export const eachFilesystem: { name: string; create(options?: Options): Filesystem }[] = [
  { name: 'memory', create: (options) => memoryFilesystem(options) },
  { name: 'host', create: (options) => hostFilesystem(scratchDirectory(), options) },
];

/** Every file with its text and every directory, read through the file system itself. */
export async function contentsOf(filesystem: Filesystem, path = ''): Promise<Record<string, string | null>> {
  const contents: Record<string, string | null> = {};
  for (const entry of await filesystem.list(path)) {
    contents[entry.path] = entry.kind === 'file' ? await filesystem.readText(entry.path) : null;
    if (entry.kind === 'directory') Object.assign(contents, await contentsOf(filesystem, entry.path));
  }
  return contents;
}

/** The code an operation was refused with, or 'done'. */
export async function codeOf(operation: Promise<unknown>): Promise<string> {
  return operation.then(
    () => 'done',
    (error) => error.code ?? String(error),
  );
}
