import type { Changes } from '../results/changes.ts';
import type { SliceChanges } from '../session/recording.ts';
import type { SessionEvent } from '../session/slice.ts';
import type { Entry, PendingEntry, SettledEntry, StartedEntry } from './entry.ts';

/**
 * Where a turn is written down as it happens. What it has taken is durable; where it rejects, the turn stops and nothing
 * of what it refused counts.
 */
export interface Journal {
  append(entries: readonly Entry[]): void | Promise<void>;
  /**
   * The start of a call with outside effects, for a journal that keeps something else together with it. The tool runs once this has
   * resolved. Default: `append` takes the entry.
   */
  start?(entry: StartedEntry, call: StartedCall): void | Promise<void>;
  /** The end of a call, or its wait for an answer, and what the call changed: kept together or not at all. */
  settle(entry: SettledEntry | PendingEntry, staged: Staged): void | Promise<void>;
}

/** A call that is about to run. */
export interface StartedCall {
  readonly toolName: string;
  /** The arguments that its tool gets. */
  readonly input: unknown;
}

/** What a call changed, to be kept with its end. */
export interface Staged {
  /** The session events of the call, in order. Empty for a call that did not succeed. */
  readonly events: readonly SessionEvent[];
  /**
   * How the slices changed with the end of the call, of a call that failed those that are logs: plain data, from which `replay`
   * restores them. Without it, `replay` gives the events to the reducers.
   */
  readonly slices?: SliceChanges;
  /** For whoever reads what happened: counts of what the call changed and of what was taken back. Absent if there was nothing. */
  readonly changes?: Changes;
}
