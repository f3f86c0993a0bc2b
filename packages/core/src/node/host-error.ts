import { FilesystemError, type FilesystemErrorCode, LastcallError } from '../errors.ts';

const REFUSALS: Readonly<Record<string, readonly [FilesystemErrorCode, string]>> = {
  ENOENT: ['not_found', 'is not there. List its directory to see what is.'],
  EEXIST: ['already_exists', "is there already. Use mode 'overwrite' to replace it."],
  EISDIR: ['is_directory', 'is a directory, not a file.'],
  ENOTDIR: ['not_directory', 'leads through a file as if it were a directory.'],
  ENOTEMPTY: ['not_empty', 'is not empty. Delete what is in it first.'],
  ELOOP: ['outside_root', 'was replaced by a symbolic link meanwhile.'],
  ENXIO: ['special_file', 'is neither a file nor a directory.'],
  ENAMETOOLONG: ['bad_path', 'has a name that is too long for this disk. Shorten it.'],
};

/**
 * Translates a host error from looking at a path. The host's message names paths of the machine, so it is only the
 * cause.
 */
export function toFilesystemError(path: string, cause: unknown): LastcallError {
  if (cause instanceof LastcallError) return cause;
  const refusal = REFUSALS[hostCodeOf(cause) ?? ''];
  if (!refusal) return ioError(path, cause);
  return new FilesystemError(refusal[0], path, refusal[1], { cause });
}

/** For a failure in the middle of a change: `io`, so that it is not mistaken for a refusal that changed nothing. */
export function ioError(path: string, cause: unknown): FilesystemError {
  return new FilesystemError('io', path, `the host's disk refused it (${hostCodeOf(cause) ?? 'unknown'}).`, { cause });
}

/** The value, or `undefined` if the host failed with one of these codes. */
export async function unless<T>(codes: readonly string[], operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (codes.includes(hostCodeOf(error) ?? '')) return undefined;
    throw error;
  }
}

function hostCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
