import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/** Conversations that continue a run from one of its steps. tables.ts explains the columns. */
export function forks(dialect: Dialect): Migration {
  const { text } = typesOf(dialect);
  return {
    async up(db) {
      const statements = [
        `create table forks (
    thread_id ${text} primary key,
    run_id ${text} not null,
    origin_run_id ${text} not null,
    origin_thread_id ${text} not null,
    origin_kind ${text} not null,
    at_step bigint not null,
    base_seq bigint not null,
    number bigint not null,
    mode ${text},
    config_version bigint not null,
    config ${text} not null,
    changes ${text} not null,
    situation ${text},
    as_of bigint not null,
    created_by ${text},
    created_at bigint not null
  )`,
        'create index forks_by_origin on forks (origin_run_id, thread_id)',
        'alter table threads add column is_fork bigint not null default 0',
        `alter table transcript_entries add column origin_run_id ${text}`,
        'create index entries_by_origin on transcript_entries (origin_run_id) where origin_run_id is not null',
        // See 0047-erasures.ts.
        ...(dialect === 'postgres'
          ? ['changes', 'situation'].map((column) => `alter table forks alter column ${column} set statistics 0`)
          : []),
      ];
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
