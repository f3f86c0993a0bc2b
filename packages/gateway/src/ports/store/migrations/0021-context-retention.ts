import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Unused contexts are deleted. The first sweep checks the existing ones. */
export const contextRetention: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table contexts add column is_brief integer not null default 0`.execute(db);
    await sql`alter table contexts add column used_at bigint not null default 0`.execute(db);
    await sql`create index contexts_by_use on contexts (is_brief, used_at, id)`.execute(db);
    await sql`create index pending_by_run on pending_calls (run_id, status)`.execute(db);
  },
};
