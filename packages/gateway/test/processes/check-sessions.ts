import type { Kysely } from 'kysely';
import { loadTranscript } from '../../src/domain/transcript/load-transcript.ts';
import { restoreSession, type SessionState } from '../../src/domain/transcript/restore-session.ts';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import type { Tables } from '../../src/ports/store/schema/tables.ts';
import { ACTING } from './check-effects.ts';
import { acts } from './tools-config.ts';

/** The differences between the writes of successful calls and the sessions. */
export async function problemsOfSessions(db: Kysely<Tables>): Promise<string[]> {
  const threads = await db.selectFrom('threads').select(['id', 'state']).execute();
  const problems: string[] = [];
  for (const { id, state } of threads) {
    const { records } = await loadTranscript(db, id);
    const session = restoreSession({ state: state === null ? undefined : fromJson<SessionState>(state), records });
    const [held, done] = [session.read(acts).toSorted(), (await refsOf(db, id)).toSorted()];
    if (held.join() !== done.join())
      problems.push(`The session of ${id} holds [${held}], and its calls did [${done}].`);
  }
  return problems;
}

async function refsOf(db: Kysely<Tables>, threadId: string): Promise<string[]> {
  const calls = await db
    .selectFrom('calls')
    .select(['input', 'answer as decision'])
    .where('thread_id', '=', threadId)
    .where('tool_name', 'in', ACTING)
    .where('outcome_status', '=', 'ok')
    .execute();
  return calls.map(({ input, decision }) => toRef(editedInput(decision) ?? fromJson(input)));
}

/** A person may change the input when they approve a call. */
function editedInput(decision: string | null): unknown {
  return decision === null ? undefined : fromJson<{ readonly input?: unknown }>(decision).input;
}

/** The input may be stored as the text that the model wrote. */
export function toRef(input: unknown): string {
  return (typeof input === 'string' ? (JSON.parse(input) as { ref: string }) : (input as { ref: string })).ref;
}
