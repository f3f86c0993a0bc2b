import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * What sub-agents cost, by run. It is a separate table because it is written during the run, and by several calls at
 * once.
 */
export const nestedUsage: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('nested_usage')
      .addColumn('run_id', 'text', (column) => column.primaryKey())
      .addColumn('input_tokens', 'bigint', (column) => column.notNull())
      .addColumn('output_tokens', 'bigint', (column) => column.notNull())
      .addColumn('total_tokens', 'bigint', (column) => column.notNull())
      .execute();
  },
};
