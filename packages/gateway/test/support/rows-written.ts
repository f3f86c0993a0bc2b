import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../src/ports/store/schema/tables.ts';

/** How many rows have been written so far to the embedded database. If it is the same as before, nothing needs to be compared. */
export async function rowsWritten(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ count: number }>`select total_changes() as count`.execute(db);
  return rows[0]?.count ?? 0;
}
