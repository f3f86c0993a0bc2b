import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** A run records the mode that its agent was in. */
export const modes: Migration = {
  async up(db) {
    await sql`alter table runs add column mode text`.execute(db);
  },
};
