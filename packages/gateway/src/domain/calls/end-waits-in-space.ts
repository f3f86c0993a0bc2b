import { toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ERASED_INPUT } from '../erasure/mark.ts';
import { updateCard } from '../spaces/tool-card.ts';
import { IS_PENDING } from './is-waiting.ts';
import { endOfWait, pushCallEnd } from './settle-waiting.ts';

/**
 * Ends the calls whose cards are in a space that is being deleted: its members were asked, and cannot answer any more. The agents read why. Calls
 * that workers answer go on. The input of a call was shown in the space, so the agent is not shown it again.
 */
export async function endWaitsInSpace(tx: Tx, spaceId: string): Promise<void> {
  const waiting = tx.db
    .selectFrom('calls')
    .selectAll()
    .where('space_id', '=', spaceId)
    .where(IS_PENDING)
    .where('offered_at', 'is', null)
    .orderBy('id')
    .forUpdate();
  for (const row of await waiting.execute()) {
    await tx.db
      .updateTable('calls')
      .set(endOfWait(row, 'cancelled', { now: tx.now(), callStatus: 'cancelled' }))
      .where('id', '=', row.id)
      .execute();
    await updateCard(tx, row.id, { status: 'cancelled' });
    const outcome =
      row.wait_kind === 'approval'
        ? { status: 'denied' as const, reason: DELETED }
        : { status: 'error' as const, message: DELETED };
    await pushCallEnd(tx, { ...row, input: toJson(ERASED_INPUT) }, outcome);
  }
}

const DELETED = 'The space in which people were asked was deleted before anyone answered.';
