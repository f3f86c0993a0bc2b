import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/** Operators set plans too. tables.ts explains the column. */
export function planSetters(dialect: Dialect): Migration {
  return {
    async up(db) {
      await sql.raw(`alter table plans add column set_by ${typesOf(dialect).text}`).execute(db);
    },
  };
}
