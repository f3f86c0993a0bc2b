import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** A call may ask people for input several times, and continue with their answers. */
export const questions: Migration = {
  async up(db: Kysely<unknown>) {
    // SQLite adds one column at a time.
    for (const column of [sql`rounds integer not null default 0`, sql`resume_state text`, sql`during_call text`])
      await sql`alter table pending_calls add column ${column}`.execute(db);
  },
};
