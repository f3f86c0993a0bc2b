import { createSession, replay, Session, type SessionJson } from '@lastcall/core';
import type { StoredRecord } from './load-consciousness.ts';

/** The latest snapshot of a session, and the number of the transcript row it was taken after. */
export interface SessionState {
  readonly seq: number;
  readonly session: unknown;
}

interface StoredSession {
  readonly state: SessionState | undefined;
  readonly records: readonly StoredRecord[];
}

/** Restores the session as the last cycle left it. */
export function restoreSession({ state, records }: StoredSession): Session {
  const session =
    state === undefined ? createSession() : Session.fromJSON(state.session as SessionJson, { slices: [] });
  replay(session, recordsAfter(state, records));
  return session;
}

/** Those that the snapshot does not hold. */
export function recordsAfter(
  state: SessionState | undefined,
  records: readonly StoredRecord[],
): readonly StoredRecord[] {
  return state === undefined ? records : records.filter(({ seq }) => seq > state.seq);
}
