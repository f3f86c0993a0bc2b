import type { Tx } from '../../ports/store/store.ts';
import { endWaitsInSpace } from '../calls/end-waits-in-space.ts';
import { lockSpace } from '../spaces/lock-space.ts';
import { removeMember } from '../spaces/membership.ts';
import { type Erasure, orderErasure } from './erasure.ts';

/** Deletes a space: calls that wait in it end and all members leave it, at once. The texts of its messages are erased by the erasure that this orders. */
export async function deleteSpace(tx: Tx, spaceId: string): Promise<Erasure> {
  const { project_id } = await lockSpace(tx, spaceId);
  // Before the members leave: an answer locks its call first, and then the membership.
  await endWaitsInSpace(tx, spaceId);
  const members = await tx.db
    .selectFrom('memberships')
    .select('entity_id')
    .where('space_id', '=', spaceId)
    .where('left_at', 'is', null)
    .execute();
  for (const { entity_id } of members) await removeMember(tx, { spaceId, entityId: entity_id });
  await tx.db.updateTable('spaces').set({ deleted_at: tx.now() }).where('id', '=', spaceId).execute();
  return await orderErasure(tx, { kind: 'space', subjectId: spaceId, project: project_id });
}
