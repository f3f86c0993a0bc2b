import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialect.ts';

/**
 * Each cycle claims its thread and releases it. With an index of who holds it, PostgreSQL writes both changes to every index of the
 * table, and whoever looks the thread up walks past what is left of them. An index of ranges (BRIN) is not in the way: such a change
 * stays on its page (a HOT update), which is why pages keep room for it. It finds the few pages with threads that are or were held.
 */
export function leaseIndex(dialect: Dialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      if (dialect === 'sqlite') return;
      await sql`drop index threads_held`.execute(db);
      await sql`alter table threads set (fillfactor = 50)`.execute(db);
      await sql`create index threads_by_lease_until on threads using brin (lease_until)
        with (pages_per_range = 16, autosummarize = on)`.execute(db);
    },
  };
}
