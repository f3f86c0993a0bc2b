import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What the gateway was given by authorization servers. One row for each kind, so that each is written by itself. */
export const mcpCredentials: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('mcp_credentials')
      .addColumn('server_key', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .addColumn('state_hash', 'text')
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('mcp_credentials_key', ['server_key', 'kind'])
      .execute();
    await db.schema.createIndex('mcp_credentials_by_state').on('mcp_credentials').column('state_hash').execute();
  },
};
