import { FilesystemError } from '../errors.ts';
import { normalisePath } from '../files/file-path.ts';
import type { Filesystem } from '../files/filesystem.ts';
import { builtInSlice, type SessionEvent, type Slice } from '../session/slice.ts';
import type { GuardContext, Policy } from './policy.ts';

interface FileSeen extends SessionEvent {
  readonly type: 'FileSeen';
  readonly path: string;
}

/** The paths that successful calls of this session have read or written. */
const seenFiles: Slice<Readonly<Record<string, true>>> = builtInSlice<Readonly<Record<string, true>>>(
  'lastcall.seen-files',
  {
    initial: {},
    on: { FileSeen: (paths, { path }: FileSeen) => (Object.hasOwn(paths, path) ? paths : { ...paths, [path]: true }) },
  },
);

/**
 * Protects files that have not been read: overwriting or deleting an existing file is denied until an earlier call read
 * it. New files are allowed, and so is appending, which loses nothing. It watches the file system itself, so it holds
 * whatever the tools and their parameters are called.
 */
export function readBeforeWrite(): Policy {
  return {
    name: 'read-before-write',
    slices: [seenFiles],
    guardFilesystem(filesystem, _call, ctx) {
      // What was read before this call: a tool that reads and overwrites in one call has shown the model nothing.
      const seen = ctx.session.read(seenFiles);
      const made = new Set<string>();
      const assertSeen = async (path: string): Promise<void> => {
        if (!made.has(normalisePath(path))) await assertSeenOrNew(filesystem, seen, path, ctx);
      };
      return {
        ...bind(filesystem),
        async readText(path) {
          const text = await filesystem.readText(path);
          note(ctx, path);
          return text;
        },
        async writeText(path, text, options) {
          const whole = options?.mode !== 'append';
          if (whole) await assertSeen(path);
          await filesystem.writeText(path, text, options);
          if (!whole) return;
          made.add(normalisePath(path));
          note(ctx, path);
        },
        async delete(path) {
          await assertSeen(path);
          await filesystem.delete(path);
        },
      };
    },
  };
}

async function assertSeenOrNew(
  filesystem: Filesystem,
  seen: Readonly<Record<string, true>>,
  path: string,
  ctx: GuardContext,
): Promise<void> {
  const known = normalisePath(path);
  if (Object.hasOwn(seen, known) || !(await isFile(filesystem, path))) return;
  ctx.deny(`"${known}" exists and has not been read. Read it first, then change it.`);
}

async function isFile(filesystem: Filesystem, path: string): Promise<boolean> {
  try {
    return (await filesystem.stat(path)).kind === 'file';
  } catch (error) {
    if (error instanceof FilesystemError && error.code === 'not_found') return false;
    throw error;
  }
}

function note(ctx: GuardContext, path: string): void {
  const event: FileSeen = { type: 'FileSeen', path: normalisePath(path) };
  ctx.record(event);
}

function bind(filesystem: Filesystem): Filesystem {
  return {
    readText: (path) => filesystem.readText(path),
    writeText: (path, text, options) => filesystem.writeText(path, text, options),
    delete: (path) => filesystem.delete(path),
    list: (path) => filesystem.list(path),
    stat: (path) => filesystem.stat(path),
    glob: (pattern) => filesystem.glob(pattern),
    grep: (pattern, options) => filesystem.grep(pattern, options),
    capture: (path) => filesystem.capture(path),
  };
}
