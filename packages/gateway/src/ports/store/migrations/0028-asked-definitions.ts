import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialect.ts';

/** What an approval was requested for: a call does not run if its tool has changed since. */
export function askedDefinitions(dialect: Dialect): Migration {
  const type = dialect === 'sqlite' ? sql`text` : sql`text collate "C"`;
  return {
    async up(db: Kysely<unknown>) {
      await sql`alter table pending_calls add column asked_definition ${type}`.execute(db);
    },
  };
}
