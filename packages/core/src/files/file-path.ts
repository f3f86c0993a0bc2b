import { FilesystemError, OptionsError } from '../errors.ts';

/** How long a path may be. The defaults are what common file systems support. */
export interface PathLimits {
  /** The maximum length of one name between slashes, in bytes of UTF-8. Default: 255. */
  readonly nameBytes: number;
  /** The maximum length of the whole path, in bytes of UTF-8. Default: 1,024. */
  readonly pathBytes: number;
  /** The maximum number of names in a path. Default: 64. */
  readonly depth: number;
}

const DEFAULT_PATH_LIMITS: PathLimits = { nameBytes: 255, pathBytes: 1024, depth: 64 };

/** For code that only compares paths and leaves the refusal to the file system below. */
export const NO_PATH_LIMITS: PathLimits = { nameBytes: Infinity, pathBytes: Infinity, depth: Infinity };

/**
 * The canonical form of a path: names joined by `/`; the root is ''. Refuses paths that lead above the root and
 * characters that some hosts read differently (backslash, control characters, names of white space, half a surrogate
 * pair).
 */
export function normalisePath(path: string, limits: Partial<PathLimits> = {}): string {
  assertReadableAlike(path);
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined)
      throw refusal('outside_root', path, 'leads out of the root. Name a path below it.');
  }
  assertWithin({ ...DEFAULT_PATH_LIMITS, ...limits }, path, names);
  return names.join('/');
}

/** Whether a name found on a host can be used as a path here. */
export function isAddressable(path: string, limits?: Partial<PathLimits>): boolean {
  try {
    return normalisePath(path, limits) === path;
  } catch {
    return false;
  }
}

export function assertPathLimits(limits: Partial<PathLimits>): void {
  for (const [name, limit] of Object.entries(limits)) {
    if (!(name in DEFAULT_PATH_LIMITS)) throw new OptionsError(`limits.${name}`, 'is not a limit of paths.');
    if (!(limit >= 1)) throw new OptionsError(`limits.${name}`, `must be a number of at least 1, not ${limit}.`);
  }
}

function assertReadableAlike(path: unknown): asserts path is string {
  if (typeof path !== 'string') {
    throw new FilesystemError('bad_path', '', `a path is a string, but this is of type ${typeof path}.`);
  }
  if (path.includes('\\')) throw refusal('bad_path', path, 'holds a backslash. Put / between names.');
  if (/\p{Cc}/u.test(path)) throw refusal('bad_path', path, 'holds a control character. Leave it out.');
  if (!path.isWellFormed()) throw refusal('bad_path', path, 'holds half a surrogate pair. Leave it out.');
}

function assertWithin(limits: PathLimits, path: string, names: readonly string[]): void {
  if (names.length > limits.depth) throw refusal('bad_path', path, `has over ${limits.depth} names. Nest less.`);
  for (const name of names) {
    if (name.trim() === '') throw refusal('bad_path', path, 'has a name of white space alone.');
    if (bytesOf(name) > limits.nameBytes) {
      throw refusal('bad_path', path, `has a name over ${limits.nameBytes} bytes. Shorten it.`);
    }
  }
  if (bytesOf(names.join('/')) > limits.pathBytes) {
    throw refusal('bad_path', path, `is over ${limits.pathBytes} bytes. Shorten it.`);
  }
}

const encoder = new TextEncoder();

function bytesOf(text: string): number {
  return encoder.encode(text).byteLength;
}

// The message goes to a model, so a path of megabytes is truncated.
const SHOWN_CHARACTERS = 200;

function refusal(code: 'bad_path' | 'outside_root', path: string, problem: string): FilesystemError {
  const shown = path.length > SHOWN_CHARACTERS ? `${path.slice(0, SHOWN_CHARACTERS)}…` : path;
  return new FilesystemError(code, shown, problem);
}
