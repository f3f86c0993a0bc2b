import type { Kysely } from 'kysely';
import { lockRows } from '../../ports/store/lock-rows.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { isId } from '../entities/column-text.ts';
import { runStream } from '../streams/stream-names.ts';

/** A run of a conversation that is queued, or was cancelled before it began. */
export interface QueuedRun {
  readonly runId: string;
  readonly threadId: string;
  readonly agentId: string;
  readonly eventId: string;
  readonly isDead: boolean;
  readonly createdAt: number;
}

/** Finds a run that has not begun, by its queued request. */
export async function findQueued(db: Kysely<Tables>, runId: string): Promise<QueuedRun | undefined> {
  if (!isId(runId)) return undefined;
  const row = await db
    .selectFrom('inbox_events')
    .innerJoin('threads', 'threads.id', 'inbox_events.thread_id')
    .select(['threads.id', 'threads.agent_id', 'event_id', 'status', 'created_at'])
    .where('inbox_events.run_id', '=', runId)
    .where('inbox_events.type', '=', 'chat')
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    runId,
    threadId: row.id,
    agentId: row.agent_id,
    eventId: row.event_id,
    isDead: row.status === 'dead',
    createdAt: row.created_at,
  };
}

/** Cancels a run that has not begun. Returns false if it has begun, or is not a run of a conversation. */
export async function cancelQueued(tx: Tx, runId: string): Promise<boolean> {
  const queued = await findQueued(tx.db, runId);
  if (queued === undefined) return false;
  // A worker that is about to begin the run has claimed the event by the time it releases the lock on the thread.
  await lockRows(tx, { threads: [queued.threadId] });
  const error = toJson({ code: 'run_cancelled', message: 'The run was cancelled before it began.' });
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

/** Ends the stream of a run that will not begin. */
export function tellUnstarted(tx: Tx, runId: string, status: 'cancelled' | 'failed'): void {
  const stop = status === 'cancelled' ? { reason: 'aborted' } : { reason: 'error', error: 'The agent was deleted.' };
  tx.emit({ stream: runStream(runId), type: 'run.end', payload: { runId, status, stop } });
}
