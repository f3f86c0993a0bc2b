import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Each stream event records how many keys had been revoked before it, so that a gateway does not have to ask before it
 * passes one on.
 */
export const streamRevocations: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('stream_events')
      .addColumn('revocations', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
