import { realpathSync, statSync } from 'node:fs';
import { rmdir, unlink } from 'node:fs/promises';
import { FilesystemError, LastcallError, OptionsError } from '../errors.ts';
import { assertPathLimits, normalisePath, type PathLimits } from '../files/file-path.ts';
import { assertMaxFileBytes, DEFAULT_MAX_FILE_BYTES, decodeText, encodeText } from '../files/file-text.ts';
import type { FileStat, Filesystem } from '../files/filesystem.ts';
import { matchLines } from '../files/match-lines.ts';
import { createOperationOrder } from '../files/operation-order.ts';
import { parsePathPattern } from '../files/path-pattern.ts';
import { writeModeOf } from '../files/write-mode.ts';
import { captureHostPath } from './host-capture.ts';
import { ioError, toFilesystemError } from './host-error.ts';
import { assertIsFile, assertWritable, readFileBytes, writeFileBytes } from './host-file.ts';
import { findPlace, type HostPlace } from './host-place.ts';
import { globHostFiles, listHostDirectory } from './host-search.ts';

interface HostFilesystemOptions {
  readonly limits?: Partial<PathLimits>;
  /** The maximum size of a file that is read, written or deleted. Default: 10 MiB. */
  readonly maxFileBytes?: number;
}

/**
 * The files below a directory of this machine, which must exist. Symbolic links that stay below it are followed, others
 * are refused. `delete` of a link deletes the link.
 */
export function hostFilesystem(root: string, options: HostFilesystemOptions = {}): Filesystem {
  const { limits = {}, maxFileBytes = DEFAULT_MAX_FILE_BYTES } = options;
  assertPathLimits(limits);
  assertMaxFileBytes(maxFileBytes);
  const host = { root: realDirectory(root), limits, maxFileBytes };
  const order = createOperationOrder();
  const find = async (path: string): Promise<HostPlace> => findPlace(host.root, normalisePath(path, limits));

  async function readText(path: string): Promise<string> {
    const place = await find(path);
    return decodeText(place.path, await readFileBytes(place, maxFileBytes));
  }

  async function glob(pattern: string): Promise<string[]> {
    const parsed = parsePathPattern(pattern);
    return globHostFiles(host, { ...parsed, base: normalisePath(parsed.base, limits) });
  }

  return {
    readText: (path) => order.read(() => readText(path)),
    writeText: (path, text, how) =>
      order.write(async () => {
        const mode = writeModeOf(how);
        const place = await find(path);
        const bytes = encodeText(place.path, text);
        assertWritable(place, bytes.byteLength, mode, maxFileBytes);
        await writeFileBytes(place, bytes, mode);
      }),
    delete: (path) => order.write(async () => deletePlace(host.root, await find(path))),
    list: (path = '') => order.read(async () => listHostDirectory(host, await find(path))),
    stat: (path) => order.read(async () => toStat(await find(path))),
    glob: (pattern) => order.read(() => glob(pattern)),
    grep: (pattern, { glob: within = '**', limit } = {}) =>
      order.read(async () => {
        const read = (path: string): Promise<string | undefined> => readText(path).catch(passOver);
        return matchLines({ pattern, limit, paths: await glob(within), read });
      }),
    capture: (path) =>
      order.read(async () => {
        const undo = await captureHostPath(host, await find(path));
        return () => order.write(undo);
      }),
  };
}

function realDirectory(root: string): string {
  if (typeof root !== 'string' || root === '') throw new OptionsError('root', 'must be the path of a directory.');
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    throw new OptionsError('root', `must be a directory that exists, but "${root}" is none. Make it first.`);
  }
  return realpathSync(root);
}

async function deletePlace(root: string, place: HostPlace): Promise<void> {
  const { path, real, link, stats } = place;
  if (path === '' || (real === root && !link)) {
    throw new FilesystemError('bad_path', path, 'is the root, which cannot be deleted.');
  }
  if (!stats && !link) throw new FilesystemError('not_found', path, 'is not there. List its directory to see what is.');
  const isDirectory = !link && stats?.isDirectory();
  if (stats && !isDirectory && !link) assertIsFile(path, stats);
  try {
    await (isDirectory ? rmdir(real) : unlink(link ?? real));
  } catch (error) {
    const refusal = toFilesystemError(path, error);
    throw refusal.code === 'not_empty' || refusal.code === 'not_found' ? refusal : ioError(path, error);
  }
}

function toStat({ path, stats }: HostPlace): FileStat {
  if (!stats) throw new FilesystemError('not_found', path, 'is not there. List its directory to see what is.');
  const kind = stats.isDirectory() ? 'directory' : 'file';
  if (kind === 'file') assertIsFile(path, stats);
  return { kind, size: kind === 'file' ? stats.size : 0, modifiedAt: Math.trunc(stats.mtimeMs) };
}

/** A search skips what it cannot read as text: too large, not UTF-8, or gone since it was found. */
function passOver(error: unknown): undefined {
  if (error instanceof LastcallError) return undefined;
  throw error;
}
