import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Earlier versions counted every takeover of a run, including ordinary restarts, and allowed more of them. Their counts
 * would make healthy runs fail.
 */
export const takeoversCountedAnew: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`update runs set attempts = 0 where status = 'running'`.execute(db);
  },
};
