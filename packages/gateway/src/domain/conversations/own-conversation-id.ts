import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { idTaken, ownId } from '../own-id.ts';

/*
 * Each entity has its own namespace for the ids of its conversations: its "c1" is stored as "c1." with the entity's id. So
 * it neither learns that another caller has a "c1", nor takes that id from an agent, since chosen ids have no dot. Keys choose the
 * stored id.
 */

interface User {
  readonly kind: 'anonymous' | 'key' | 'entity';
  readonly entityId?: string | undefined;
}

/**
 * The stored id of a new conversation with this id. Throws 409 if its owner can already use a conversation with that id: if it had both its
 * own conversation and one that a key gave it, it could reach only one of them.
 */
export async function newContextId(
  db: Kysely<Tables>,
  given: string,
  { kind, entityId }: User,
  ownerId: string | undefined = entityId,
): Promise<string> {
  const id = ownId(given);
  if (ownerId === undefined) return id;
  const [asGiven, asChosen] = meantIds(id, ownerId);
  const [stored, other] = kind === 'entity' ? [asChosen, asGiven] : [asGiven, asChosen];
  const known = db.selectFrom('contexts').select('id').where('id', '=', other).where('owner_id', '=', ownerId);
  if ((await known.executeTakeFirst()) !== undefined) throw idTaken(id);
  return stored;
}

/** The stored ids that an entity may mean by an id: its own conversation, or one that a key gave it. */
export function meantIds(id: string, entityId: string): readonly [given: string, chosen: string] {
  return [id, `${id}.${entityId}`];
}

/** The id of a conversation as this caller knows it. */
export function shownContextId(id: string, user: User): string {
  const end = `.${user.entityId}`;
  return user.kind === 'entity' && id.endsWith(end) ? id.slice(0, -end.length) : id;
}
