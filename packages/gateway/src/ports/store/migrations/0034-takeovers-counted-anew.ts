import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Earlier versions counted every takeover of a run, ordinary restarts included, and allowed more: their counts would fail healthy runs. */
export const takeoversCountedAnew: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`update runs set attempts = 0 where status = 'running'`.execute(db);
  },
};
