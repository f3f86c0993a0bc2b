import type { Tx } from '../../ports/store/store.ts';
import { updateCard } from '../spaces/tool-card.ts';
import { IS_PENDING } from './is-waiting.ts';

/** Ends questions whose calls are no longer open, and their cards: one question, or all that a run has left. */
export async function withdrawQuestions(
  tx: Tx,
  which: { readonly questionId: string } | { readonly runId: string; readonly agentId: string },
): Promise<void> {
  const open = tx.db
    .updateTable('calls')
    .set({ status: 'settled', settled_at: tx.now(), wait_status: 'cancelled', answered_at: tx.now() })
    .where(IS_PENDING)
    .where('during_call', 'is not', null);
  const chosen =
    'questionId' in which
      ? open.where('id', '=', which.questionId)
      : open.where('agent_id', '=', which.agentId).where('run_id', '=', which.runId);
  for (const { id } of await chosen.returning('id').execute()) await updateCard(tx, id, { status: 'cancelled' });
}
