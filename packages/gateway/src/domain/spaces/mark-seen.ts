import { sql } from 'kysely';
import type { Tx } from '../../ports/store/store.ts';
import { requireMember } from './membership.ts';
import { getSpace } from './space.ts';

export interface Seen {
  readonly spaceId: string;
  readonly entityId: string;
  /** The last message that the member has seen. */
  readonly seq: number;
}

/** Records which messages a member has seen. The number never decreases, and never exceeds that of the newest message. */
export async function markSeen(tx: Tx, { spaceId, entityId, seq }: Seen): Promise<Seen> {
  await requireMember(tx.db, spaceId, entityId);
  const { lastSeq } = await getSpace(tx.db, spaceId);
  const seen = Math.min(seq, lastSeq);
  const row = await tx.db
    .updateTable('memberships')
    .set({ last_seen_seq: sql<number>`case when last_seen_seq < ${seen} then ${seen} else last_seen_seq end` })
    .where('space_id', '=', spaceId)
    .where('entity_id', '=', entityId)
    .where('left_at', 'is', null)
    .returning('last_seen_seq')
    .executeTakeFirst();
  return { spaceId, entityId, seq: row?.last_seen_seq ?? seen };
}
