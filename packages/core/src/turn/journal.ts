import type { Changes } from '../session/changes.ts';
import type { SliceChanges } from '../session/recording.ts';
import type { SessionEvent } from '../session/slice.ts';
import type { Entry, PendingEntry, SettledEntry } from './entry.ts';

/**
 * Where a turn is written down as it happens. What it has taken is durable; where it rejects, the turn stops and nothing
 * of what it refused counts.
 */
export interface Journal {
  append(entries: readonly Entry[]): void | Promise<void>;
  /** The end of a call, or its wait for an answer, and what the call changed: kept together or not at all. */
  settle(entry: SettledEntry | PendingEntry, staged: Staged): void | Promise<void>;
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
