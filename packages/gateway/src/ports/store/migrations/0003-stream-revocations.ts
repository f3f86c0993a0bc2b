import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Each stream event says which revocations came before it, so that a gateway need not ask before it passes one on. */
export const streamRevocations: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('stream_events')
      .addColumn('revocations', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
