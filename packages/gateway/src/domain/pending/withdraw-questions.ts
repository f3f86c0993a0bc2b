import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import { updateCard } from '../spaces/tool-card.ts';

/** Ends questions whose calls are no longer open, and their cards: one question, or all that a run has left. */
export async function withdrawQuestions(
  services: Services,
  tx: Tx,
  which: { readonly questionId: string } | { readonly runId: string; readonly agentId: string },
): Promise<void> {
  const open = tx.db
    .updateTable('pending_calls')
    .set({ status: 'cancelled', resolved_at: tx.now() })
    .where('status', '=', 'pending')
    .where('during_call', 'is not', null);
  const chosen =
    'questionId' in which
      ? open.where('call_id', '=', which.questionId)
      : open.where('agent_id', '=', which.agentId).where('run_id', '=', which.runId);
  for (const { call_id } of await chosen.returning('call_id').execute())
    await updateCard(services, tx, call_id, { status: 'cancelled' });
}
