import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/** What models were asked, and for whom. tables.ts explains the columns. */
export function usage(dialect: Dialect): Migration {
  const { text } = typesOf(dialect);
  const amounts = `requests bigint not null,
    input_tokens bigint not null,
    cached_tokens bigint not null,
    output_tokens bigint not null,
    cost double precision not null,
    unpriced bigint not null,
    estimated bigint not null`;
  const keys = ['day', 'agent_id', 'model', 'entity_id', 'kind', 'currency'];
  const columns = keys.map((name) => `${name} ${text} not null`).join(',\n    ');
  return {
    async up(db) {
      const statements = [
        `create table usage (
    ${columns},
    ${amounts},
    constraint usage_pk primary key (${keys.join(', ')})
  )`,
        'create index usage_by_entity on usage (entity_id, day)',
        `create table usage_requests (
    id ${text} primary key,
    run_id ${text} not null,
    ${columns},
    ${amounts},
    reserved bigint not null,
    created_at bigint not null
  )`,
        'create index usage_requests_by_run on usage_requests (run_id)',
        `create table spend_reached (
    scope ${text} not null,
    id ${text} not null,
    day ${text} not null,
    amount double precision not null,
    run_id ${text} not null,
    constraint spend_reached_pk primary key (scope, id)
  )`,
        'alter table nested_usage add column cached_tokens bigint not null default 0',
        'alter table nested_usage add column estimated bigint not null default 0',
        `alter table runs add column entity_id ${text}`,
      ];
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
