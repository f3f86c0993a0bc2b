import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Sign-in links stay for a while after they were used: whoever opens one again is told that, and not only that it does not work. */
export const usedLinks: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table sign_in_links add column used_at bigint`.execute(db);
  },
};
