import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Conversations of the chat endpoints. Each has a thread with the same id, which is woken, held and journalled like an
 * agent's.
 */
export const contexts: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`create table contexts (
      id text primary key,
      agent_id text not null,
      owner_id text,
      metadata text not null,
      created_at bigint not null
    )`.execute(db);
    await sql`create table turn_requests (
      run_id text primary key,
      context_id text not null,
      caller text not null,
      idempotency_key text,
      body_hash text not null,
      created_at bigint not null
    )`.execute(db);
    await sql`create unique index turn_requests_by_key on turn_requests (caller, idempotency_key)
      where idempotency_key is not null`.execute(db);
    await sql`create index turn_requests_by_body on turn_requests (caller, body_hash)`.execute(db);
    // Requests name agents by their names.
    await sql`create index agents_by_name on agents (name)`.execute(db);
    await sql`alter table runs add column settings text`.execute(db);
    await sql`alter table runs add column answer text`.execute(db);
  },
};
