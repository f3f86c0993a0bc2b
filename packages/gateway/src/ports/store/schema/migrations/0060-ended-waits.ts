import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Calls that no longer wait are listed in the order in which they ended: of all agents, of one, or of one space. */
export function endedWaits(): Migration {
  const indexes = {
    calls_waited: 'wait_status, answered_at',
    calls_waited_by_agent: 'agent_id, wait_status, answered_at',
    calls_waited_by_space: 'space_id, wait_status, answered_at',
  };
  return {
    async up(db) {
      for (const [name, columns] of Object.entries(indexes)) {
        await sql.raw(`drop index ${name}`).execute(db);
        await sql.raw(`create index ${name} on calls (${columns}) where wait_status is not null`).execute(db);
      }
    },
  };
}
