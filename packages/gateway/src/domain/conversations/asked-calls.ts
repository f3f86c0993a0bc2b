import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { type PendingCall, toPendingCall } from '../calls/pending-call.ts';

/** The calls among these that wait or waited for an answer in this context, by id. Calls of others are not found. */
export async function askedCalls(
  db: Kysely<Tables>,
  contextId: string,
  callIds: readonly string[],
): Promise<ReadonlyMap<string, PendingCall>> {
  if (callIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('calls')
    .selectAll()
    .where('thread_id', '=', contextId)
    .where('id', 'in', callIds)
    .where('wait_kind', 'is not', null)
    .orderBy('id')
    .execute();
  return new Map(rows.map((row) => [row.id, toPendingCall(row)]));
}

/** The run that took the answers to these calls, if it has begun or has an id. */
export async function runThatTook(
  db: Kysely<Tables>,
  contextId: string,
  callIds: readonly string[],
): Promise<string | undefined> {
  if (callIds.length === 0) return undefined;
  const ids = callIds.map((callId) => `tool_result:${callId}`);
  const event = await db
    .selectFrom('inbox_events')
    .select('run_id')
    .where('thread_id', '=', contextId)
    // The result, and earlier answers to the call: a decision, or the answers to questions.
    .where((eb) => eb.or([eb('event_id', 'in', ids), ...ids.map((id) => eb('event_id', 'like', `${id}:%`))]))
    .where('run_id', 'is not', null)
    .orderBy('id', 'desc')
    .executeTakeFirst();
  return event?.run_id ?? undefined;
}
