import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What an approval was requested for: a call does not run if its tool has changed since. */
export const askedDefinitions: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table pending_calls add column asked_definition text`.execute(db);
  },
};
