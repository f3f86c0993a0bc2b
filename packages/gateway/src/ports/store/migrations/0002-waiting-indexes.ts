import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Partial indexes of waiting events and held threads only. Most events are done, and no query looks for those by these
 * columns. Renewing the lease of a held thread changes no index.
 */
export const waitingIndexes: Migration = {
  async up(db: Kysely<unknown>) {
    for (const name of ['inbox_waiting', 'inbox_due', 'threads_by_lease']) await db.schema.dropIndex(name).execute();
    await sql`create index inbox_waiting on inbox_events (agent_id, priority, id) where status = 'pending'`.execute(db);
    await sql`create index inbox_due on inbox_events (available_at) where status = 'pending'`.execute(db);
    await sql`create index threads_held on threads (lease_owner) where lease_owner is not null`.execute(db);
  },
};
