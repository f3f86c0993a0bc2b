import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What models were sent besides the conversation: instructions, tools, situations. Each text is stored once. */
export const requestTexts: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('request_texts')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('text', 'text', (column) => column.notNull())
      .addColumn('used_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('request_texts_by_use').on('request_texts').column('used_at').execute();
  },
};
