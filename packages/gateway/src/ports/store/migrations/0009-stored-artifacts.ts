import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Images that tools made. The database holds their metadata; the bytes are files. */
export const storedArtifacts: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('artifacts')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('run_id', 'text', (column) => column.notNull())
      .addColumn('space_id', 'text')
      .addColumn('media_type', 'text', (column) => column.notNull())
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
