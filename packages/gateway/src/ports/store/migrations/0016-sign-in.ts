import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Signed-in browsers, and the links that sign one in. Only hashes of the cookies and codes are stored. */
export const signIn: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('sessions')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('entity_id', 'text')
      .addColumn('key_id', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('sign_in_links')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('entity_id', 'text')
      .addColumn('key_id', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
    // The studio asks every few seconds how many dead events there are.
    await sql`create index inbox_dead on inbox_events (agent_id) where status = 'dead'`.execute(db);
  },
};
