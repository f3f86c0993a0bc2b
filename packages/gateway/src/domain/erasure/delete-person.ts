import { lockRows } from '../../ports/store/lock-rows.ts';
import type { Tx } from '../../ports/store/store.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { invalid } from '../entities/invalid.ts';
import { cancelRunsFor } from '../runs/request-cancel.ts';
import { removeMember } from '../spaces/membership.ts';
import { type Erasure, orderErasure } from './erasure.ts';

/**
 * Deletes a person or a service: they leave their spaces, their sessions end and their runs are cancelled, at once. Their texts are erased
 * by the erasure that this orders.
 */
export async function deletePerson(tx: Tx, entityId: string): Promise<Erasure> {
  tx.runAlone();
  // All spaces are locked before anything is written: a post has either been stored, or finds that they left.
  await lockRows(tx, { spaces: await spacesOf(tx, entityId) });
  const row = isId(entityId)
    ? await tx.db
        .selectFrom('entities')
        .select(['kind', 'project_id'])
        .where('id', '=', entityId)
        .where('deleted_at', 'is', null)
        .forUpdate()
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw notFound('entity', entityId);
  if (row.kind === 'agent') throw invalid('id', 'is an agent: delete it with DELETE /api/agents/{id}?erase=true.');
  for (const spaceId of await spacesOf(tx, entityId)) await removeMember(tx, { spaceId, entityId });
  await tx.db.updateTable('entities').set({ deleted_at: tx.now() }).where('id', '=', entityId).execute();
  await tx.db.deleteFrom('sessions').where('entity_id', '=', entityId).execute();
  await tx.db.deleteFrom('sign_in_links').where('entity_id', '=', entityId).execute();
  // What they allowed needs an approval again.
  await tx.db
    .updateTable('grants')
    .set({ ended_at: tx.now(), end_reason: 'revoked' })
    .where('granted_by', '=', entityId)
    .where('ended_at', 'is', null)
    .execute();
  await cancelRunsFor(tx, entityId);
  return await orderErasure(tx, { kind: 'person', subjectId: entityId, project: row.project_id });
}

async function spacesOf(tx: Tx, entityId: string): Promise<readonly string[]> {
  if (!isId(entityId)) return [];
  const joined = await tx.db
    .selectFrom('memberships')
    .select('space_id')
    .where('entity_id', '=', entityId)
    .where('left_at', 'is', null)
    .execute();
  return joined.map(({ space_id }) => space_id);
}
