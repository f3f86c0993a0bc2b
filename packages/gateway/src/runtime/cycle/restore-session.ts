import { createSession, replay, Session, type SessionJson } from '@lastcall/core';
import type { Cycle } from './cycle.ts';

/** Restores the session as the last cycle left it. */
export function restoreSession({ state, records }: Pick<Cycle, 'state' | 'records'>): Session {
  const session =
    state === undefined ? createSession() : Session.fromJSON(state.session as SessionJson, { slices: [] });
  replay(
    session,
    records.filter(({ seq }) => state === undefined || seq > state.seq),
  );
  return session;
}
