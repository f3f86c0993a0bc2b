import { toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { IS_PENDING } from '../calls/is-pending.ts';
import { type EndedRun, unsavedAnswer } from './run-answer.ts';

/**
 * Ends a run whose messages are not saved: only its answer is kept, for the caller. The conversation is as it was before, without
 * any trace of the run in the transcript, the calls or the request.
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
  await db
    .updateTable('calls')
    .set({ wait_status: 'cancelled', answered_at: tx.now() })
    .where('run_id', '=', run.id)
    .where(IS_PENDING)
    .execute();
  // A call that waited stays, so that a late answer is refused as late.
  await db.deleteFrom('calls').where('run_id', '=', run.id).where('wait_kind', 'is', null).execute();
  const emptied = toJson({ type: 'chat', runId: run.id, messages: [], settings: { save: false } });
  await db.updateTable('inbox_events').set({ payload: emptied }).where('run_id', '=', run.id).execute();
}
