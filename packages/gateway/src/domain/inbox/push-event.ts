import type { Services } from '../../ports/services.ts';
import { toJson } from '../../ports/store/json.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { InboxEventRow } from '../../ports/store/tables.ts';
import { type InboxEvent, priorityOf } from './inbox-event.ts';

export interface PushedEvent {
  /** The agent, or the context. */
  readonly agentId: string;
  /** An event is delivered once per thread and id, however often it is pushed. */
  readonly eventId: string;
  readonly event: InboxEvent;
  /** A withheld event is kept for operators and wakes nobody. Default 'pending'. */
  readonly status?: 'pending' | 'withheld';
  /** The run that will take it, if that has an id already. */
  readonly runId?: string;
}

/**
 * Puts an event into an inbox and wakes the thread, in the transaction that made the event. Returns false if the
 * event was there already.
 */
export async function pushEvent({ engine }: Pick<Services, 'engine'>, tx: Tx, pushed: PushedEvent): Promise<boolean> {
  const { agentId, eventId, event, status = 'pending', runId = null } = pushed;
  const now = tx.now();
  const values = {
    agentId,
    eventId,
    type: event.type,
    priority: priorityOf(event),
    payload: toJson(event),
    status,
    runId,
    now,
  };
  const [inserted] = await insertEvent(tx.db, values);
  if (inserted === undefined) return false;
  // The thread of an agent or of a context has the same id.
  if (status === 'pending') engine.enqueue(tx, agentId, { isUrgent: values.priority === 0 });
  return true;
}

interface EventValues extends Pick<InboxEventRow, 'type' | 'priority' | 'payload' | 'status'> {
  readonly agentId: string;
  readonly eventId: string;
  readonly runId: string | null;
  readonly now: number;
}

const insertEvent = statement(
  (db, { agentId, eventId, type, priority, payload, status, runId, now }: Params<EventValues>) =>
    db
      .insertInto('inbox_events')
      .values({
        agent_id: agentId,
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
      .onConflict((conflict) => conflict.columns(['agent_id', 'event_id']).doNothing())
      .returning('id'),
);
