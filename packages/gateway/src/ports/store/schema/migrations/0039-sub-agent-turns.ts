import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/** What sub-agents did: one row for each call that ran one. */
export function subAgentTurns(dialect: Dialect): Migration {
  const { text } = typesOf(dialect);
  return {
    async up(db) {
      await sql
        .raw(
          `create table sub_agent_turns (
    run_id ${text} not null,
    call_id ${text} not null,
    steps ${text} not null,
    created_at bigint not null,
    constraint sub_agent_turns_pk primary key (run_id, call_id)
  )`,
        )
        .execute(db);
    },
  };
}
