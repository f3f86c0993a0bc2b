import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Credentials that authorization servers gave the gateway. There is one row per kind, so that each can be written
 * separately.
 */
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
