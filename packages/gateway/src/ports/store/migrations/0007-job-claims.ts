import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * A pending call of an `external` tool is a job that one worker at a time may claim. Only columns that are queried
 * regularly are indexed: claims that may lapse, and webhooks that are due.
 */
export const jobClaims: Migration = {
  async up(db: Kysely<unknown>) {
    // SQLite adds one column at a time.
    for (const column of [
      sql`offered_at bigint`,
      sql`offers integer not null default 0`,
      sql`claims integer not null default 0`,
      sql`claim_hash text`,
      sql`claimed_by text`,
      sql`claim_ms bigint`,
      sql`claimed_until bigint`,
      sql`announce_at bigint`,
      sql`announce_attempts integer not null default 0`,
    ])
      await sql`alter table pending_calls add column ${column}`.execute(db);
    await sql`create index pending_claimed on pending_calls (claimed_until) where claimed_until is not null`.execute(
      db,
    );
    await sql`create index pending_announced on pending_calls (announce_at) where announce_at is not null`.execute(db);
  },
};
