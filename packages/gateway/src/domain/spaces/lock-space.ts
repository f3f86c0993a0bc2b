import type { Kysely, SelectQueryBuilder } from 'kysely';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import type { SpaceRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Param, type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';

/**
 * Locks the space's row until the commit. Every transaction that posts to a space, or adds or removes a member, starts here:
 * messages are numbered without gaps, and the members stay the same from the check to the last event that is pushed. A
 * transaction that needs several spaces locks them with `lockRows`.
 */
export async function lockSpace(tx: Tx, spaceId: string): Promise<SpaceRow> {
  if (!isId(spaceId)) throw notFound('space', spaceId);
  tx.runAlone(spaceId);
  const [space] = await (tx.isShared ? lockIfFree : lock)(tx.db, { spaceId });
  if (space !== undefined) return space;
  // Another transaction may hold it. Alone, this one can wait for it.
  tx.runAlone();
  throw notFound('space', spaceId);
}

/** Weaker than FOR UPDATE, so that rows that refer to the space can still be written. */
const lock = statement((db, { spaceId }: Params<{ spaceId: string }>) => spaceRow(db, spaceId).forNoKeyUpdate());

/** The same, without waiting: a space that another transaction has locked is not found. */
const lockIfFree = statement(
  (db, { spaceId }: Params<{ spaceId: string }>) => spaceRow(db, spaceId).forNoKeyUpdate().skipLocked(),
  { types: { spaceId: 'text' }, key: 'spaceId' },
);

function spaceRow(db: Kysely<Tables>, spaceId: Param<string>): SelectQueryBuilder<Tables, 'spaces', SpaceRow> {
  return db.selectFrom('spaces').select(COLUMNS.spaces).where('id', '=', spaceId).where('deleted_at', 'is', null);
}
