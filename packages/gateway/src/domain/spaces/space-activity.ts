import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { countWaiting } from '../calls/count-waiting.ts';
import type { Space } from './space.ts';

/** A space with its unread messages and waiting calls. */
export interface ActiveSpace extends Space {
  /** Messages of others that the member has not seen. Only for a member. */
  readonly unread?: number;
  /** Calls that wait for the member, or without a member all waiting calls. */
  readonly waiting: number;
}

/** More are not counted, because the difference does not matter to readers. */
const MOST_UNREAD = 100;

export async function withActivity(
  db: Kysely<Tables>,
  spaces: readonly Space[],
  entityId: string | undefined,
): Promise<readonly ActiveSpace[]> {
  const ids = spaces.map(({ id }) => id);
  const waiting = await countWaiting(db, ids, entityId);
  const unread = entityId === undefined ? new Map<string, number>() : await countUnread(db, ids, entityId);
  return spaces.map((space) => {
    const unseen = unread.get(space.id);
    return { ...space, waiting: waiting.get(space.id) ?? 0, ...(unseen === undefined ? {} : { unread: unseen }) };
  });
}

async function countUnread(
  db: Kysely<Tables>,
  spaceIds: readonly string[],
  entityId: string,
): Promise<ReadonlyMap<string, number>> {
  if (spaceIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('memberships')
    .select('space_id')
    .select((eb) =>
      eb
        .selectFrom((inner) =>
          inner
            .selectFrom('messages')
            .select('messages.id')
            .whereRef('messages.space_id', '=', 'memberships.space_id')
            .whereRef('messages.seq', '>', 'memberships.last_seen_seq')
            .where('messages.entity_id', '!=', entityId)
            .limit(MOST_UNREAD)
            .as('unseen'),
        )
        .select((counting) => counting.fn.countAll<number>().as('count'))
        .as('unread'),
    )
    .where('space_id', 'in', spaceIds)
    .where('entity_id', '=', entityId)
    .where('left_at', 'is', null)
    .execute();
  return new Map(rows.map(({ space_id, unread }) => [space_id, Number(unread)]));
}
