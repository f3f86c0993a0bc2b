import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/** Who changed what. tables.ts explains the columns. */
export function audit(dialect: Dialect): Migration {
  const { text } = typesOf(dialect);
  return {
    async up(db) {
      const statements = [
        `create table audit (
    id ${text} primary key,
    at bigint not null,
    project_id ${text} not null,
    key_id ${text},
    session_id ${text},
    entity_id ${text},
    action ${text} not null,
    subject_kind ${text},
    subject_id ${text},
    address ${text},
    request_id ${text},
    status bigint not null
  )`,
        'create index audit_by_project on audit (project_id, id)',
      ];
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
