import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Clients that send the whole conversation each time are matched to their context by a hash of what they sent before.
 */
export const toldConversations: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table turn_requests add column conversation_hash text`.execute(db);
    await sql`create index turn_requests_by_conversation on turn_requests (caller, conversation_hash, created_at)
      where conversation_hash is not null`.execute(db);
    // Finds the newest of many requests with the same body: a client may ask the same thing every second.
    await sql`drop index turn_requests_by_body`.execute(db);
    await sql`create index turn_requests_by_body on turn_requests (caller, body_hash, created_at)`.execute(db);
  },
};
