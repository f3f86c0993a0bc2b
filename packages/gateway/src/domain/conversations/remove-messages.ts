import { toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { cancelWaiting } from '../calls/cancel-waiting.ts';
import { type EndedRun, unsavedAnswer } from './run-answer.ts';

/**
 * Ends a run whose messages are not saved: only its answer is kept, for the caller, and which calls waited. The conversation is as it
 * was before.
 */
export async function removeMessages(tx: Tx, run: EndedRun): Promise<void> {
  const { db } = tx;
  const answer = await unsavedAnswer(db, run);
  await db
    .updateTable('runs')
    .set({ answer: toJson(answer) })
    .where('id', '=', run.id)
    .execute();
  await db.deleteFrom('transcript_entries').where('run_id', '=', run.id).execute();
  await cancelWaiting(tx, { runId: run.id });
  await db.deleteFrom('calls').where('run_id', '=', run.id).where('wait_kind', 'is', null).execute();
  // A call that waited stays, without its input, so that a late answer is refused as late. No run will settle it, so it is settled here.
  await db
    .updateTable('calls')
    .set({ input: toJson({}), display: null })
    .where('run_id', '=', run.id)
    .execute();
  await db
    .updateTable('calls')
    .set({ status: 'settled', settled_at: tx.now(), outcome: null, outcome_status: 'cancelled' })
    .where('run_id', '=', run.id)
    .where('status', '!=', 'settled')
    .execute();
  const emptied = toJson({ type: 'chat', runId: run.id, messages: [], settings: { save: false } });
  await db.updateTable('inbox_events').set({ payload: emptied }).where('run_id', '=', run.id).execute();
}
