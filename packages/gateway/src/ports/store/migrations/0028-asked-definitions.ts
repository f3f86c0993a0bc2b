import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialect.ts';
import { plainText } from './plain-text.ts';

/** The definition for which an approval was requested: a call does not run if its tool has changed since. */
export function askedDefinitions(dialect: Dialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await sql`alter table pending_calls add column asked_definition ${plainText(dialect)}`.execute(db);
    },
  };
}
