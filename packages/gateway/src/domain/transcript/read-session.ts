import type { SessionJson } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { loadTranscript } from './load-transcript.ts';
import { restoreSession, type SessionState } from './restore-session.ts';

/** The session of a thread as its last settled call left it. A slice is shown as it is stored, whether or not any code knows it. */
export async function readSession(db: Kysely<Tables>, threadId: string): Promise<SessionJson['slices']> {
  const thread = await db.selectFrom('threads').select('state').where('id', '=', threadId).executeTakeFirst();
  const { records } = await loadTranscript(db, threadId);
  const stored = thread?.state ?? null;
  const state = stored === null ? undefined : fromJson<SessionState>(stored);
  return restoreSession({ state, records }).toJSON().slices;
}
