import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/** Everything belongs to a project. tables.ts explains the columns. What was there before belongs to `default`. */
export function projects(dialect: Dialect): Migration {
  const { text } = typesOf(dialect);
  return {
    async up(db) {
      const statements = [
        ...created(text),
        ...(dialect === 'postgres' ? UNIQUE_POSTGRES : uniqueSqlite(text)),
        'create unique index entities_by_external_id on entities (project_id, external_id)',
        'create unique index tools_by_name on tools (project_id, name)',
      ];
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

function created(text: string): readonly string[] {
  return [
    `create table projects (
    id ${text} primary key,
    name ${text} not null,
    spend ${text},
    created_at bigint not null,
    deleted_at bigint
  )`,
    `insert into projects (id, name, created_at) values ('default', 'default', 0)`,
    ...['agents', 'spaces', 'entities', 'tools', 'mcp_tools'].map(
      (table) => `alter table ${table} add column project_id ${text} not null default 'default'`,
    ),
    ...['agents', 'spaces', 'entities'].map((table) => `create index ${table}_by_project on ${table} (project_id, id)`),
    ...['project_id', 'limits'].map((column) => `alter table api_keys add column ${column} ${text}`),
    'alter table api_keys add column expires_at bigint',
    // A key with scope "admin" manages the whole gateway, as before.
    `update api_keys set project_id = 'default' where scopes not like '%"admin"%'`,
    `create table key_rates (
    key_id ${text} primary key,
    used ${text} not null
  )`,
  ];
}

const UNIQUE_POSTGRES: readonly string[] = [
  'alter table entities drop constraint entities_external_id_key',
  'alter table tools drop constraint tools_name_key',
];

/**
 * SQLite cannot drop a constraint. No row refers to a tool, so that table is made anew. Many rows refer to entities, so there the column
 * with the constraint stays, without values, and another one takes its place.
 */
function uniqueSqlite(text: string): readonly string[] {
  return [
    'alter table entities rename column external_id to old_external_id',
    `alter table entities add column external_id ${text}`,
    'update entities set external_id = old_external_id, old_external_id = null where old_external_id is not null',
    `create table tools_of_projects (
    id ${text} primary key,
    name ${text} not null,
    config ${text} not null,
    version bigint not null,
    created_at bigint not null,
    updated_at bigint not null,
    project_id ${text} not null default 'default'
  )`,
    `insert into tools_of_projects (id, name, config, version, created_at, updated_at)
      select id, name, config, version, created_at, updated_at from tools`,
    'drop table tools',
    'alter table tools_of_projects rename to tools',
  ];
}
