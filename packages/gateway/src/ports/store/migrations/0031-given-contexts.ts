import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * An entity may use its contexts while it shares a space with their agent, or if a key gave it the context. Existing
 * contexts count as given if their owner never shared a space with the agent: its token could not have opened them.
 */
export const givenContexts: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table contexts add column is_given integer not null default 0`.execute(db);
    await sql`
      update contexts set is_given = 1 where owner_id is not null and not exists (
        select 1 from memberships theirs
        join memberships agents on agents.space_id = theirs.space_id
        where theirs.entity_id = contexts.owner_id and agents.entity_id = contexts.agent_id
      )`.execute(db);
  },
};
