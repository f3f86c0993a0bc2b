import type { Tx } from '../../ports/store/store.ts';
import { updateCard } from '../spaces/tool-card.ts';
import { IS_PENDING } from './is-waiting.ts';
import { tellJobEnded } from './job-events.ts';
import { endOfWait } from './settle-waiting.ts';
import { toWaitingCall } from './waiting-call.ts';

/**
 * Ends all calls of an agent, or of one run, that still wait, with their cards, or one call. The agent gets no event: it is being
 * deleted, the run is not saved, or the run itself cancels the call. Returns how many.
 */
export async function cancelWaiting(
  tx: Tx,
  which: { readonly agentId: string } | { readonly runId: string } | { readonly callId: string },
): Promise<number> {
  const now = tx.now();
  const all = tx.db.selectFrom('calls').selectAll().where(IS_PENDING).orderBy('id');
  const waiting =
    'callId' in which
      ? all.where('id', '=', which.callId)
      : 'agentId' in which
        ? all.where('agent_id', '=', which.agentId)
        : all.where('run_id', '=', which.runId);
  let cancelled = 0;
  for (const row of await waiting.execute()) {
    const ended = await tx.db
      .updateTable('calls')
      .set(endOfWait(row, 'cancelled', { now, callStatus: 'cancelled' }))
      .where('id', '=', row.id)
      // It may have been answered since it was read.
      .where(IS_PENDING)
      .returning('id')
      .executeTakeFirst();
    if (ended === undefined) continue;
    cancelled += 1;
    await updateCard(tx, row.id, { status: 'cancelled' });
    tellJobEnded(tx, toWaitingCall(row), 'cancelled');
  }
  return cancelled;
}
