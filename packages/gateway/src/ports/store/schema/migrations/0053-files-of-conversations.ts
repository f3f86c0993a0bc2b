import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Finds the files of a conversation that is deleted. */
export const filesOfConversations: Migration = {
  async up(db) {
    await sql`create index artifacts_by_thread on artifacts (thread_id) where thread_id is not null`.execute(db);
  },
};
