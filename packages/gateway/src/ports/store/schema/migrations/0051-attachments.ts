import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/** People upload files too, and messages name those that are attached to them. tables.ts explains the columns. */
export function attachments(dialect: Dialect): Migration {
  const { text } = typesOf(dialect);
  return {
    async up(db) {
      const statements = [
        ...(dialect === 'postgres' ? OPTIONAL_POSTGRES : optionalSqlite(text)),
        `alter table artifacts add column project_id ${text} not null default 'default'`,
        ...['entity_id', 'thread_id', 'name'].map((column) => `alter table artifacts add column ${column} ${text}`),
        'update artifacts set project_id = coalesce((select project_id from agents where agents.id = artifacts.agent_id), project_id)',
        'create index artifacts_by_entity on artifacts (entity_id, created_at) where entity_id is not null',
        'create index artifacts_unused on artifacts (created_at) where agent_id is null and space_id is null and thread_id is null',
        `alter table messages add column attachments ${text}`,
        // As in 0047: samples of texts could not be erased.
        ...(dialect === 'postgres' ? ['alter table messages alter column attachments set statistics 0'] : []),
      ];
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

const OPTIONAL_POSTGRES: readonly string[] = [
  'alter table artifacts alter column agent_id drop not null',
  'alter table artifacts alter column run_id drop not null',
];

/** SQLite cannot drop a constraint. No row refers to an artifact, so the table is made anew. */
function optionalSqlite(text: string): readonly string[] {
  return [
    `create table artifacts_of_all (
    id ${text} primary key,
    agent_id ${text},
    run_id ${text},
    space_id ${text},
    media_type ${text} not null,
    bytes bigint not null,
    created_at bigint not null
  )`,
    `insert into artifacts_of_all (id, agent_id, run_id, space_id, media_type, bytes, created_at)
      select id, agent_id, run_id, space_id, media_type, bytes, created_at from artifacts`,
    'drop table artifacts',
    'alter table artifacts_of_all rename to artifacts',
  ];
}
