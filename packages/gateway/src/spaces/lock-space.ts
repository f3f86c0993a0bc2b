import { sql } from 'kysely';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/plain-text.ts';
import { COLUMNS } from '../store/columns.ts';
import { statement } from '../store/statement.ts';
import type { Tx } from '../store/store.ts';
import type { SpaceRow } from '../store/tables.ts';

/**
 * The space's row, which nobody else changes until the commit. Whoever posts to a space, joins or leaves it begins here: messages
 * are numbered without gaps, and who is in the space stays the same from the check to the last event that was pushed.
 * A transaction that needs several spaces locks them in the order of their ids.
 */
export async function lockSpace(tx: Tx, spaceId: string): Promise<SpaceRow> {
  if (!isId(spaceId)) throw notFound('space', spaceId);
  const [space] = await lock(tx.db, { spaceId });
  if (space === undefined) throw notFound('space', spaceId);
  return space;
}

const lock = statement((db, { spaceId }: { spaceId: string }, dialect) => {
  const row = db.selectFrom('spaces').select(COLUMNS.spaces).where('id', '=', spaceId);
  // Weaker than FOR UPDATE: rows that refer to the space may be written meanwhile.
  return dialect === 'postgres' ? row.modifyEnd(sql`for no key update`) : row;
});
