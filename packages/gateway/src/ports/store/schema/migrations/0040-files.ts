import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/** Agents and conversations have files. tables.ts explains the columns. */
export function files(dialect: Dialect): Migration {
  const { text } = typesOf(dialect);
  return {
    async up(db) {
      await sql
        .raw(
          `create table files (
            thread_id ${text} not null,
            path ${text} not null,
            content ${text} not null,
            size bigint not null,
            changed_by ${text} not null,
            changed_at bigint not null,
            constraint files_pk primary key (thread_id, path)
          )`,
        )
        .execute(db);
      await sql
        .raw(
          `create table file_undo (
            thread_id ${text} not null,
            path ${text} not null,
            content ${text},
            size bigint not null,
            changed_by ${text} not null,
            changed_at bigint not null,
            constraint file_undo_pk primary key (thread_id, path)
          )`,
        )
        .execute(db);
    },
  };
}
