import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';
import { runStream } from '../streams/stream-names.ts';
import { cancelQueued } from './queued-run.ts';
import { getRun, type Run } from './run.ts';

/** Requests a cancel of the run. Its worker does it. Requesting it again changes nothing. */
export async function requestCancel(tx: Tx, runId: string): Promise<Run> {
  if (await cancelQueued(tx, runId)) return await getRun(tx.db, runId);
  await getRun(tx.db, runId);
  const asked = await tx.db
    .updateTable('runs')
    .set({ cancel_requested_at: tx.now() })
    .where('id', '=', runId)
    .where('status', '=', 'running')
    .where('cancel_requested_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  const run = await getRun(tx.db, runId);
  if (asked !== undefined) tellCancelling(tx, runId);
  else if (run.status === 'queued')
    throw new ApiError('run_queued', `Run "${runId}" has not started. It can be cancelled once it runs.`);
  else if (run.status !== 'running')
    throw new ApiError('run_ended', `Run "${runId}" has already ended. Its status is ${run.status}.`, {
      details: { status: run.status },
    });
  return run;
}

/** Requests a cancel of every run of the agent that is still running. */
export async function cancelRunsOf(tx: Tx, agentId: string): Promise<void> {
  const asked = await tx.db
    .updateTable('runs')
    .set({ cancel_requested_at: tx.now() })
    .where('thread_id', 'in', (eb) => eb.selectFrom('threads').select('threads.id').where('agent_id', '=', agentId))
    .where('status', '=', 'running')
    .where('cancel_requested_at', 'is', null)
    .returning('id')
    .execute();
  for (const { id } of asked) tellCancelling(tx, id);
}

/** The same for a conversation. */
export async function cancelRunsOfThread(tx: Tx, threadId: string): Promise<void> {
  const asked = await tx.db
    .updateTable('runs')
    .set({ cancel_requested_at: tx.now() })
    .where('thread_id', '=', threadId)
    .where('status', '=', 'running')
    .where('cancel_requested_at', 'is', null)
    .returning('id')
    .execute();
  for (const { id } of asked) tellCancelling(tx, id);
}

/** The same for the runs that a person woke. */
export async function cancelRunsFor(tx: Tx, entityId: string): Promise<void> {
  const asked = await tx.db
    .updateTable('runs')
    .set({ cancel_requested_at: tx.now() })
    .where('entity_id', '=', entityId)
    .where('status', '=', 'running')
    .where('cancel_requested_at', 'is', null)
    .returning('id')
    .execute();
  for (const { id } of asked) tellCancelling(tx, id);
}

/** Returns those of the runs for which a cancel was requested. */
export async function cancelRequested(db: Kysely<Tables>, runIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (runIds.length === 0) return new Set();
  const asked = await db
    .selectFrom('runs')
    .select('id')
    .where('id', 'in', runIds)
    .where('cancel_requested_at', 'is not', null)
    .execute();
  return new Set(asked.map(({ id }) => id));
}

function tellCancelling(tx: Tx, runId: string): void {
  tx.emit({ stream: runStream(runId), type: 'run.cancelling', payload: { runId } });
}
