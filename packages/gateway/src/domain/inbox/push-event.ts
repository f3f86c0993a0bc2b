import { type Kysely, type RawBuilder, sql } from 'kysely';
import { toJson } from '../../ports/store/schema/json.ts';
import type { InboxEventRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { type Columns, toColumns } from '../../ports/store/to-columns.ts';
import { type InboxEvent, priorityOf } from './inbox-event.ts';

export interface PushedEvent {
  /** The thread of an agent has the agent's id, and that of a conversation has the conversation's id. */
  readonly threadId: string;
  /** An event is delivered once per thread and id, however often it is pushed. */
  readonly eventId: string;
  readonly event: InboxEvent;
  /** A withheld event is stored for operators and does not wake the agent. Default 'pending'. */
  readonly status?: 'pending' | 'withheld';
  /** The run that will take it, if it already has an id. */
  readonly runId?: string;
}

/**
 * Puts an event into an inbox and wakes the thread, in the transaction that created the event. Returns false if the event already
 * exists.
 */
export async function pushEvent(tx: Tx, pushed: PushedEvent): Promise<boolean> {
  const [inserted] = await insertEvent(tx.db, toValues(tx, pushed));
  if (inserted !== undefined) wakeThread(tx, pushed);
  return inserted !== undefined;
}

/** The same for an event with a new id, without waiting for the result. */
export function pushNewEvent(tx: Tx, pushed: PushedEvent): void {
  tx.send(insertEvent, toValues(tx, pushed));
  wakeThread(tx, pushed);
}

function toValues(tx: Tx, pushed: PushedEvent): EventValues {
  const { threadId, eventId, event, status = 'pending', runId = null } = pushed;
  const priority = priorityOf(event);
  return { threadId, eventId, type: event.type, priority, payload: toJson(event), status, runId, now: tx.now() };
}

function wakeThread(tx: Tx, { threadId, event, status }: PushedEvent): void {
  if (status !== 'withheld') tx.wake(threadId, { isUrgent: priorityOf(event) === 0 });
}

interface EventValues extends Pick<InboxEventRow, 'type' | 'priority' | 'payload' | 'status'> {
  readonly threadId: string;
  readonly eventId: string;
  readonly runId: string | null;
  readonly now: number;
}

const insertEvent = statement(
  (db, { threadId, eventId, type, priority, payload, status, runId, now }: Params<EventValues>) =>
    db
      .insertInto('inbox_events')
      .values({
        thread_id: threadId,
        event_id: eventId,
        type,
        priority,
        payload,
        status,
        attempts: 0,
        available_at: now,
        run_id: runId,
        error: null,
        created_at: now,
      })
      .onConflict((conflict) => conflict.columns(['thread_id', 'event_id']).doNothing())
      .returning('id'),
  { toValues: (all) => toColumns(all.map(withName)), build: insertSeveral },
);

interface NamedEvent extends EventValues {
  /** The thread and the event. Only columns of the new rows can be returned, and these identify each row. */
  readonly name: string;
}

function withName(event: EventValues): NamedEvent {
  return { ...event, name: `${event.threadId} ${event.eventId}` };
}

function insertSeveral(
  _db: Kysely<Tables>,
  { name, threadId, eventId, type, priority, payload, status, runId, now }: Params<Columns<NamedEvent>>,
): RawBuilder<unknown> {
  return sql`
    insert into inbox_events (thread_id, event_id, type, priority, payload, status, attempts, available_at, run_id, created_at)
    select thread_id, event_id, type, priority, payload, status, 0, at, run_id, at
    from unnest(${threadId}::text[], ${eventId}::text[], ${type}::text[], ${priority}::bigint[], ${payload}::text[],
      ${status}::text[], ${runId}::text[], ${now}::bigint[])
      as given(thread_id, event_id, type, priority, payload, status, run_id, at)
    on conflict (thread_id, event_id) do nothing
    returning array_position(${name}::text[], thread_id || ' ' || event_id) as place, id`;
}
