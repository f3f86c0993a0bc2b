import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Sign-in links are kept for a while after use: a user who opens one again reads that it was used, not only that it is
 * invalid.
 */
export const usedLinks: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table sign_in_links add column used_at bigint`.execute(db);
  },
};
