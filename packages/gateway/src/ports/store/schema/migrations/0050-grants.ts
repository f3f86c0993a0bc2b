import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/** Approvals that people gave in advance. tables.ts explains the columns. */
export function grants(dialect: Dialect): Migration {
  const { text } = typesOf(dialect);
  return {
    async up(db) {
      const statements = [
        `create table grants (
    id ${text} primary key,
    agent_id ${text} not null,
    tool_name ${text} not null,
    lasts ${text} not null,
    conditions ${text} not null,
    definition ${text} not null,
    reach ${text} not null,
    call_id ${text} not null,
    run_id ${text} not null,
    thread_id ${text} not null,
    space_id ${text},
    granted_by ${text} not null,
    created_at bigint not null,
    expires_at bigint,
    ended_at bigint,
    end_reason ${text},
    ended_by ${text},
    uses bigint not null default 0,
    last_used_at bigint
  )`,
        'create unique index grants_by_call on grants (call_id)',
        'create index grants_by_agent on grants (agent_id, id)',
        'create index grants_of_tool on grants (agent_id, tool_name) where ended_at is null',
        'create index grants_by_person on grants (granted_by, id)',
        `alter table calls add column grant_id ${text}`,
        // As in 0047: samples of texts could not be erased.
        ...(dialect === 'postgres' ? ['alter table grants alter column conditions set statistics 0'] : []),
      ];
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
