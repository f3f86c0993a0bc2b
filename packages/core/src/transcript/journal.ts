import { OptionsError } from '../errors.ts';
import type { ChangedFile } from '../files/filesystem.ts';
import type { Changes } from '../results/changes.ts';
import type { SliceChanges } from '../session/recording.ts';
import type { SessionEvent } from '../session/slice.ts';
import type { Entry, PendingEntry, SettledEntry, StartedEntry } from './entry.ts';

/**
 * Stores a turn as it happens. What it has accepted is durable; if it rejects, the turn stops and nothing that it
 * refused counts.
 */
export interface Journal {
  append(entries: readonly Entry[]): void | Promise<void>;
  /**
   * Records the start of a call with outside effects, for a journal that stores something else together with it. The
   * tool runs once this has resolved. Default: the entry is passed to `append`.
   */
  start?(entry: StartedEntry, call: StartedCall): void | Promise<void>;
  /** Records the end of a call, or its wait for an answer, and the call's changes: stored together or not at all. */
  settle(entry: SettledEntry | PendingEntry, staged: Staged): void | Promise<void>;
}

/** Refuses what is no journal. What a store of journals returns is easily taken for one, so the error names the journal in it. */
export function assertJournal(value: unknown): void {
  if (value === undefined || isJournal(value)) return;
  const { journal, thread } = (value ?? {}) as { readonly journal?: unknown; readonly thread?: unknown };
  const hint =
    typeof thread === 'function'
      ? ' This is a store of journals: give store.thread(id).journal.'
      : isJournal(journal)
        ? ' This is a thread: give its journal, thread.journal.'
        : '';
  throw new OptionsError('journal', `must have append() and settle().${hint}`);
}

/** Why this cannot be the records of a journal. What a store of journals returns is easily taken for them. */
export function recordsProblem(value: unknown): string | undefined {
  const { [Symbol.iterator]: iterate, records } = (value ?? {}) as Partial<Iterable<unknown>> & { records?: unknown };
  if (typeof iterate === 'function') return undefined;
  const hint = typeof records === 'function' ? ' This is a thread of a journal: give thread.records().' : '';
  return `must be the records of a journal.${hint}`;
}

function isJournal(value: unknown): boolean {
  const { append, settle } = (value ?? {}) as { readonly append?: unknown; readonly settle?: unknown };
  return typeof append === 'function' && typeof settle === 'function';
}

/** A call that is about to run. */
export interface StartedCall {
  readonly toolName: string;
  /** The arguments that its tool gets. */
  readonly input: unknown;
}

/** The changes of a call, to be stored with its end. */
export interface Staged {
  /** The session events of the call, in order. Empty for a call that did not succeed. */
  readonly events: readonly SessionEvent[];
  /**
   * How the slices changed with the end of the call (for a failed call, only log slices): plain data, from which
   * `replay` restores them. Without it, `replay` applies the events with the reducers.
   */
  readonly slices?: SliceChanges;
  /** The files that the call changed, if the journal stores files: see `Filesystem.isJournaled`. Absent if there are none. */
  readonly files?: readonly ChangedFile[];
  /**
   * For readers of the history: counts of the call's changes and of those that were rolled back. Absent if there were
   * none.
   */
  readonly changes?: Changes;
}
