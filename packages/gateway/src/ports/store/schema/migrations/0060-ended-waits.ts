import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Calls that no longer wait are listed in the order in which they ended. */
export function endedWaits(): Migration {
  return {
    async up(db) {
      await sql.raw('drop index calls_waited').execute(db);
      await sql
        .raw('create index calls_waited on calls (wait_status, answered_at) where wait_status is not null')
        .execute(db);
    },
  };
}
