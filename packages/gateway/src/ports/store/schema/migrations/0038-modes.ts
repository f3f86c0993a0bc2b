import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/** A run records the mode that its agent was in. */
export function modes(dialect: Dialect): Migration {
  return {
    async up(db) {
      await sql.raw(`alter table runs add column mode ${typesOf(dialect).text}`).execute(db);
    },
  };
}
