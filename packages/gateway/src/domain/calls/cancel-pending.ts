import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import { updateCard } from '../spaces/tool-card.ts';
import { IS_PENDING } from './is-pending.ts';
import { tellJobEnded } from './job-events.ts';
import { toPendingCall } from './pending-call.ts';

/**
 * Ends all calls of an agent that still wait, with their cards. The agent gets no event, because it is being deleted.
 * Returns how many.
 */
export async function cancelPending(services: Services, tx: Tx, { agentId }: { agentId: string }): Promise<number> {
  const now = tx.now();
  const cancelled = await tx.db
    .updateTable('calls')
    .set({ wait_status: 'cancelled', answered_at: now })
    .where('agent_id', '=', agentId)
    .where(IS_PENDING)
    .returningAll()
    .execute();
  for (const row of cancelled) {
    await updateCard(services, tx, row.id, { status: 'cancelled' });
    tellJobEnded(services, tx, toPendingCall(row), 'cancelled');
  }
  return cancelled.length;
}
