import { FilesystemError, LastcallError, ReadOnlyError, StaleCallError } from '../errors.ts';
import type { Change } from '../results/changes.ts';
import { createFileCounts } from './file-counts.ts';
import { NO_PATH_LIMITS, normalisePath } from './file-path.ts';
import type { ChangedFile, Filesystem } from './filesystem.ts';
import { createOperationOrder } from './operation-order.ts';

export interface FileTransaction {
  /** What was written and deleted, by path, including what `rollback` restored. */
  changes(): readonly Change[];
  /** The file system for a call. Operations take effect in the order in which they were requested, awaited or not. */
  readonly filesystem: Filesystem;
  /**
   * Refuses further operations, waits for the writes already requested, and reads what was changed. It is still to be committed or
   * rolled back.
   */
  changedFiles(): Promise<readonly ChangedFile[]>;
  /** Refuses further operations and waits for the writes already requested. */
  commit(): Promise<void>;
  /**
   * Refuses further operations and those not yet begun, waits for the write in flight, then undoes the writes, the last
   * first. Rejects with an AggregateError if something could not be restored, after it has tried the rest.
   */
  rollback(): Promise<void>;
}

type Undo = () => Promise<void>;
type Operation = 'Writing' | 'Deleting' | 'Restoring';
type Phase = { kind: 'open' } | { kind: 'committed' | 'rolled_back'; done: Promise<void> };

/** A transaction on a file system that can be rolled back. It may itself be the base of another one. */
export function openFileTransaction(
  base: Filesystem,
  options: {
    readOnly?: boolean;
    /** Called for each write that `readOnly` refused, also if the tool ignores the refusal. */
    onRefusal?: (error: ReadOnlyError) => void;
    /** Called on commit with the undo functions, oldest first, for a rewind that goes back further. */
    onCommit?: (undos: readonly (() => Promise<void>)[]) => void;
  } = {},
): FileTransaction {
  const order = createOperationOrder();
  const undos: Undo[] = [];
  const captured = new Set<string>();
  const touched = new Set<string>();
  let isClosed = false;
  const changed = createFileCounts();
  let phase: Phase = { kind: 'open' };

  function read<T>(what: string, operation: () => Promise<T>): Promise<T> {
    if (isClosed || phase.kind !== 'open') return refused(new StaleCallError(what));
    const result = order.read(async () => {
      assertNotRolledBack(what);
      const value = await operation();
      // Data that was read during the undo may be a mix of both states.
      assertNotRolledBack(what);
      return value;
    });
    return observed(result);
  }

  function write(change: Operation, path: string, operation: () => Promise<void>): Promise<void> {
    const what = `${change} a file`;
    if (isClosed || phase.kind !== 'open') return refused(new StaleCallError(what));
    if (options.readOnly) return refusedAsReadOnly(what);
    const uncount = changed.count(change, path);
    const result = order.write(async () => {
      try {
        assertNotRolledBack(what);
        await undoably(change, normalisePath(path, NO_PATH_LIMITS), operation);
      } catch (error) {
        if (isRefusal(error)) uncount();
        throw error;
      }
    });
    return observed(result);
  }

  function refusedAsReadOnly(what: string): Promise<never> {
    const error = new ReadOnlyError(what);
    options.onRefusal?.(error);
    return refused(error);
  }

  async function undoably(change: Operation, path: string, operation: () => Promise<void>): Promise<void> {
    const undo = captured.has(path) ? undefined : await base.capture(path);
    try {
      await operation();
    } catch (error) {
      // Undoing a refused write would undo what others did to that file since.
      if (!isRefusal(error)) remember(change, path, undo);
      throw error;
    }
    remember(change, path, undo);
  }

  function remember(change: Operation, path: string, undo: Undo | undefined): void {
    if (undo) undos.push(undo);
    touched.add(path);
    // One capture is enough while a file is only written. Once deleted, it may be created again in a new directory: then
    // what was captured first would put back the file and leave that directory.
    if (change === 'Writing') captured.add(path);
    else captured.delete(path);
  }

  function undoThrough(path: string, undo: Undo): Promise<void> {
    const result = write('Restoring', path, undo).catch((error) => {
      // Our own rollback restores everything that was done through us, so this undo is no longer needed.
      if (phase.kind === 'rolled_back') return phase.done;
      throw error;
    });
    return observed(result);
  }

  function assertNotRolledBack(what: string): void {
    if (phase.kind === 'rolled_back') throw new StaleCallError(what);
  }

  function end(kind: 'committed' | 'rolled_back', finish: () => Promise<void>): Promise<void> {
    if (phase.kind === 'open') phase = { kind, done: order.written().then(finish) };
    if (phase.kind === kind) return phase.done;
    return Promise.reject(new StaleCallError(kind === 'committed' ? 'A commit of files' : 'A rollback of files'));
  }

  async function changedFiles(): Promise<readonly ChangedFile[]> {
    isClosed = true;
    await order.written();
    return await Promise.all(Array.from(touched, async (path) => ({ path, text: await textAt(base, path) })));
  }

  return {
    changes: () => changed.list(),
    changedFiles,
    filesystem: {
      readText: (path) => read('Reading a file', () => base.readText(path)),
      writeText: (path, text, how) => write('Writing', path, () => base.writeText(path, text, how)),
      delete: (path) => write('Deleting', path, () => base.delete(path)),
      list: (path) => read('Listing a directory', () => base.list(path)),
      stat: (path) => read('Reading a file', () => base.stat(path)),
      glob: (pattern) => read('Searching files', () => base.glob(pattern)),
      grep: (pattern, how) => read('Searching files', () => base.grep(pattern, how)),
      capture: (path) =>
        read('Remembering a file', async () => {
          const undo = await base.capture(path);
          const resetCount = changed.mark(path);
          return () => observed(undoThrough(path, undo).then(resetCount));
        }),
    },
    // An abandoned tool may keep a reference to this object, so the undo functions are not kept for it.
    commit: () => end('committed', async () => options.onCommit?.(undos.splice(0))),
    rollback: () => end('rolled_back', () => undoInReverse(undos)),
  };
}

/** Undefined if there is no file. */
async function textAt(base: Filesystem, path: string): Promise<string | undefined> {
  try {
    return await base.readText(path);
  } catch (error) {
    if (error instanceof FilesystemError && NO_FILE.has(error.code)) return undefined;
    throw error;
  }
}

const NO_FILE: ReadonlySet<string> = new Set(['not_found', 'is_directory', 'not_directory']);

async function undoInReverse(undos: readonly Undo[]): Promise<void> {
  const causes: unknown[] = [];
  for (const undo of undos.toReversed()) await undo().catch((cause) => causes.push(cause));
  if (causes.length > 0) throw new AggregateError(causes, `${causes.length} changed files could not be put back.`);
}

/** Our own errors refuse before anything is changed; `io` and foreign errors may come from a partial write. */
function isRefusal(error: unknown): boolean {
  return error instanceof LastcallError && error.code !== 'io';
}

function refused(error: Error): Promise<never> {
  return observed(Promise.reject(error));
}

/** A tool that does not await what it started must not crash the process with an unhandled rejection. */
function observed<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
