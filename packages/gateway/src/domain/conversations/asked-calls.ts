import { type Kysely, sql } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { IS_PENDING } from '../calls/is-waiting.ts';
import { toWaitingCall, type WaitingCall } from '../calls/waiting-call.ts';
import { isId } from '../entities/column-text.ts';
import type { TurnSettings } from './turn-settings.ts';

/** The calls among these that wait or waited for an answer in this conversation, by id. Calls of others are not found. */
export async function askedCalls(
  db: Kysely<Tables>,
  contextId: string,
  callIds: readonly string[],
): Promise<ReadonlyMap<string, WaitingCall>> {
  if (callIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('calls')
    .selectAll()
    .where('thread_id', '=', contextId)
    .where('id', 'in', callIds)
    .where('wait_kind', 'is not', null)
    .orderBy('id')
    .execute();
  return new Map(rows.map((row) => [row.id, toWaitingCall(row)]));
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

/** The conversation in which a tool of the caller was called, if the call waits or waited. */
export async function conversationOfClientCall(db: Kysely<Tables>, callId: string): Promise<string | undefined> {
  if (!isId(callId)) return undefined;
  const call = await db
    .selectFrom('calls')
    .innerJoin('runs', 'runs.id', 'calls.run_id')
    .select(['calls.thread_id', 'runs.settings', 'calls.tool_name'])
    .where('calls.id', '=', callId)
    .where('calls.wait_kind', 'is not', null)
    .executeTakeFirst();
  if (call === undefined || call.settings === null) return undefined;
  const { clientTools = [] } = fromJson<TurnSettings>(call.settings);
  return clientTools.some(({ name }) => name === call.tool_name) ? call.thread_id : undefined;
}

/** The calls of the conversation that wait for an answer. Calls of an earlier run may still wait after a later run has ended. */
export async function waitingIn(db: Kysely<Tables>, contextId: string): Promise<readonly WaitingCall[]> {
  const rows = await db
    .selectFrom('calls')
    .selectAll()
    .where('thread_id', '=', contextId)
    .where(IS_PENDING)
    .orderBy('id')
    .execute();
  return rows.map(toWaitingCall);
}

/** The calls of the conversation that wait for an approval, and were made in this run or later. The ids of runs are in the order of time. */
export async function unapprovedSince(
  db: Kysely<Tables>,
  contextId: string,
  runId: string,
): Promise<readonly WaitingCall[]> {
  const waiting = await waitingIn(db, contextId);
  return waiting.filter(({ kind, runId: madeIn }) => kind === 'approval' && madeIn >= runId);
}

/** The calls of these tools that waited for a result when the run ended, in order. They may have been answered since. */
export async function leftWaiting(
  db: Kysely<Tables>,
  runId: string,
  toolNames: readonly string[],
): Promise<readonly WaitingCall[]> {
  if (toolNames.length === 0) return [];
  const rows = await db
    .selectFrom('runs as ended')
    .innerJoin('runs as asking', (join) =>
      join
        .onRef('asking.thread_id', '=', 'ended.thread_id')
        .onRef('asking.turn_id', '=', 'ended.turn_id')
        .onRef('asking.number', '<=', 'ended.number'),
    )
    .innerJoin('calls', 'calls.run_id', 'asking.id')
    .selectAll('calls')
    .where('ended.id', '=', runId)
    .where('calls.wait_kind', '=', 'result')
    .where('calls.tool_name', 'in', toolNames)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('inbox_events')
            .innerJoin('runs as answered', 'answered.id', 'inbox_events.run_id')
            .select('inbox_events.id')
            .whereRef('inbox_events.thread_id', '=', 'calls.thread_id')
            .where('inbox_events.event_id', '=', sql<string>`'tool_result:' || calls.id`)
            .whereRef('answered.number', '<=', 'ended.number'),
        ),
      ),
    )
    .orderBy('calls.id')
    .execute();
  return rows.map(toWaitingCall);
}
