import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialect.ts';

/**
 * PostgreSQL compares texts byte by byte, as SQLite and the gateway do, and not by the rules of the database's
 * language: those take several times as long, and almost all compared texts are ids. Indexes are rebuilt, tables are
 * not.
 */
export function plainCollation(dialect: Dialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      if (dialect === 'sqlite') return;
      for (const table of TABLES) {
        const columns = await textColumns(db, table);
        const changes = columns.map((column) => sql`alter column ${sql.id(column)} type text collate "C"`);
        await sql`alter table ${sql.table(table)} ${sql.join(changes)}`.execute(db);
      }
    },
  };
}

async function textColumns(db: Kysely<unknown>, table: string): Promise<readonly string[]> {
  const { rows } = await sql<{ column_name: string }>`
    select column_name from information_schema.columns
    where table_schema = current_schema() and table_name = ${table} and data_type = 'text'`.execute(db);
  return rows.map(({ column_name }) => column_name);
}

const TABLES = [
  'entities',
  'agents',
  'threads',
  'contexts',
  'turn_requests',
  'spaces',
  'memberships',
  'messages',
  'inbox_events',
  'runs',
  'nested_usage',
  'artifacts',
  'transcript_entries',
  'calls',
  'pending_calls',
  'goals',
  'memories',
  'plans',
  'tools',
  'agent_tools',
  'agent_versions',
  'channels',
  'stream_events',
  'api_keys',
  'settings',
  'mcp_tools',
  'mcp_credentials',
  'sessions',
  'sign_in_links',
  'request_texts',
];
