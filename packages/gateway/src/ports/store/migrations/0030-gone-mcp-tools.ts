import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The time since which a server no longer lists a tool. Its row is deleted after a while, so that servers cannot fill
 * the table.
 */
export const goneMcpTools: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table mcp_tools add column gone_at bigint`.execute(db);
    await sql`create index mcp_tools_gone on mcp_tools (gone_at) where gone_at is not null`.execute(db);
  },
};
