import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The approved definitions of MCP servers' tools, and changed definitions that wait for approval. */
export const mcpTools: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('mcp_tools')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('server_key', 'text', (column) => column.notNull())
      .addColumn('server_name', 'text', (column) => column.notNull())
      .addColumn('tool_name', 'text', (column) => column.notNull())
      .addColumn('fingerprint', 'text', (column) => column.notNull())
      .addColumn('definition', 'text', (column) => column.notNull())
      .addColumn('held_fingerprint', 'text')
      .addColumn('held_definition', 'text')
      .addColumn('approved_by', 'text')
      .addColumn('approved_at', 'bigint', (column) => column.notNull())
      .addColumn('held_at', 'bigint')
      .addUniqueConstraint('mcp_tools_by_server', ['server_key', 'tool_name'])
      .execute();
  },
};
