import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Operators set plans too. tables.ts explains the column. */
export const planSetters: Migration = {
  async up(db) {
    await sql.raw('alter table plans add column set_by text').execute(db);
  },
};
