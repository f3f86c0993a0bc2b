import { type JournalRecord, replay, type Session, type SessionJson } from '@lastcall/core';
import { hostedSession, type SessionHost } from '@lastcall/core/internal';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Json } from '../../ports/store/schema/tables.ts';
import type { StoredRecord } from './load-transcript.ts';

/** The latest snapshot of a session, and the number of the transcript row it was taken after. */
export interface SessionState {
  readonly seq: number;
  readonly session: unknown;
  /** A snapshot of the machine, if an earlier version stored one here. Now it is in the row of the compaction. */
  readonly machine?: unknown;
  /** What the machine wrote after that, if the agent was no machine when the transcript was compacted. */
  readonly records?: readonly JournalRecord[];
}

const characters = new WeakMap<SessionState, number>();

/** Reads a stored snapshot. */
export function toSessionState(stored: Json | null): SessionState | undefined {
  if (stored === null) return undefined;
  const state = fromJson<SessionState>(stored);
  if (typeof state === 'object' && state !== null) characters.set(state, stored.length);
  return state;
}

/** The size of the snapshot as it is stored. */
export function sizeOfState(state: SessionState | undefined): number {
  return state === undefined ? 0 : (characters.get(state) ?? 0);
}

interface StoredSession {
  readonly state: SessionState | undefined;
  readonly records: readonly StoredRecord[];
  readonly host?: SessionHost;
}

/**
 * Restores the session as the last run left it. Its slices belong to tools, which may be gone, new or changed since: their
 * state is kept as it was stored until a tool uses it.
 */
export function restoreSession({ state, records, host = {} }: StoredSession): Session {
  const session = hostedSession(state?.session as SessionJson | null | undefined, { ...host, ...KEPT });
  replay(session, recordsAfter(state, records));
  return session;
}

/** An agent's run is a turn: what it opened in one stays open in the next, until the transcript is compacted. */
const KEPT = { keepOpenedSections: true };

/** The records that the snapshot does not contain. */
export function recordsAfter(
  state: SessionState | undefined,
  records: readonly StoredRecord[],
): readonly StoredRecord[] {
  return state === undefined ? records : records.filter(({ seq }) => seq > state.seq);
}
