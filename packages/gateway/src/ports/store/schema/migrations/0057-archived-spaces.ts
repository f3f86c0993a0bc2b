import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Spaces can be archived. tables.ts explains the column. */
export function archivedSpaces(): Migration {
  return {
    async up(db) {
      await sql.raw('alter table spaces add column archived_at bigint').execute(db);
    },
  };
}
