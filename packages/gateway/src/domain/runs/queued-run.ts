import type { Kysely } from 'kysely';
import { lockRows } from '../../ports/store/lock-rows.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { isId } from '../entities/column-text.ts';
import type { InboxEvent } from '../inbox/inbox-event.ts';
import { runStream } from '../streams/stream-names.ts';

/** A run that is queued, or was cancelled before it began: the run of a request, or the one that waiting answers were promised. */
export interface QueuedRun {
  readonly runId: string;
  readonly threadId: string;
  readonly agentId: string;
  readonly trigger: readonly { readonly eventId: string; readonly type: 'chat' | 'tool_result' }[];
  readonly isDead: boolean;
  readonly createdAt: number;
}

/** Finds a run that has not begun, by the events that it will take. */
export async function findQueued(db: Kysely<Tables>, runId: string): Promise<QueuedRun | undefined> {
  if (!isId(runId)) return undefined;
  const rows = await db
    .selectFrom('inbox_events')
    .innerJoin('threads', 'threads.id', 'inbox_events.thread_id')
    .select(['threads.id', 'threads.agent_id', 'event_id', 'type', 'status', 'created_at'])
    .where('inbox_events.run_id', '=', runId)
    .orderBy('inbox_events.id')
    .execute();
  const trigger = rows.flatMap(({ event_id: eventId, type }) =>
    type === 'chat' || type === 'tool_result' ? [{ eventId, type } as const] : [],
  );
  const [row] = rows;
  if (row === undefined || trigger.length === 0) return undefined;
  const isDead = rows.every(({ status }) => status === 'dead');
  return { runId, threadId: row.id, agentId: row.agent_id, trigger, isDead, createdAt: row.created_at };
}

/**
 * Cancels the run of a request that has not begun. Returns false if it has begun, or is not the run of a request. Answers that were
 * promised this run, but are not part of the request, wait for the next run.
 */
export async function cancelQueued(tx: Tx, runId: string): Promise<boolean> {
  const queued = await findQueued(tx.db, runId);
  if (queued?.trigger.some(({ type }) => type === 'chat') !== true) return false;
  // A worker that is about to begin the run has claimed the event by the time it releases the lock on the thread.
  await lockRows(tx, { threads: [queued.threadId] });
  const error = toJson({ code: 'run_cancelled', message: 'The run was cancelled before it began.' });
  if (!(await containsAnswers(tx, runId))) {
    await tx.db
      .updateTable('inbox_events')
      .set({ run_id: null })
      .where('run_id', '=', runId)
      .where('type', '=', 'tool_result')
      .where('status', '=', 'pending')
      .execute();
    tx.wake(queued.threadId);
  }
  const cancelled = await tx.db
    .updateTable('inbox_events')
    .set({ status: 'dead', error })
    .where('run_id', '=', runId)
    .where('status', '=', 'pending')
    .returning('id')
    .execute();
  if (cancelled.length > 0) tellUnstarted(tx, runId, 'cancelled');
  return cancelled.length > 0;
}

async function containsAnswers(tx: Tx, runId: string): Promise<boolean> {
  const request = tx.db.selectFrom('inbox_events').select('payload').where('run_id', '=', runId);
  const row = await request.where('type', '=', 'chat').executeTakeFirst();
  const event = row === undefined ? undefined : fromJson<InboxEvent>(row.payload);
  return event?.type === 'chat' && event.isAnswer === true;
}

/** Ends the stream of a run that will not begin. */
export function tellUnstarted(tx: Tx, runId: string, status: 'cancelled' | 'failed'): void {
  const stop = status === 'cancelled' ? { reason: 'aborted' } : { reason: 'error', error: 'The agent was deleted.' };
  tx.emit({ stream: runStream(runId), type: 'run.end', payload: { runId, status, stop } });
}
