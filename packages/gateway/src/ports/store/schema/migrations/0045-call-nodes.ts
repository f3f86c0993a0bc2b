import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/** Calls that wait name the node of the machine that asks. tables.ts explains the column. */
export function callNodes(dialect: Dialect): Migration {
  return {
    async up(db) {
      await sql.raw(`alter table calls add column node ${typesOf(dialect).text}`).execute(db);
    },
  };
}
