import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { StoreRefused } from '../store-error.ts';
import { codeOf } from './postgres-error.ts';
import { createMigrationPool } from './postgres-pool.ts';

/**
 * Removes old rows from the files of tables and indexes. VACUUM makes their space free, but leaves their bytes in it until new rows are
 * written there. Only a rewrite of the table leaves nothing, and nothing else can use the table meanwhile. So tables are rewritten if that
 * takes a moment, and vacuumed otherwise. Throws if an older transaction stays open, because the rows would stay too.
 */
export async function reclaimPostgres(
  url: string,
  tables: readonly string[],
  keep: () => Promise<void> = async () => {},
  { waitMs = MOST_WAITED_MS }: { readonly waitMs?: number } = {},
): Promise<void> {
  const pool = createMigrationPool(url);
  try {
    const client = await pool.connect();
    try {
      await untilNoOlderReader(client, { keep, waitMs });
      for (const { name, bytes } of await tablesOf(client, tables)) {
        await keep();
        await reclaimTable(client, { name, bytes }, keep);
      }
    } finally {
      client.release();
    }
  } finally {
    await (pool as Pool).end();
  }
}

/** A rewrite of 64 MB takes well under a second. */
const MOST_REWRITTEN = 64 * 1024 * 1024;

interface Table {
  readonly name: string;
  readonly bytes: number;
}

/** Without those that never had a row: their indexes have at least one page each, and so has the index of their long values. */
async function tablesOf(client: PoolClient, tables: readonly string[]): Promise<readonly Table[]> {
  const { rows } = await client.query<Table>(
    `select quote_ident(relname) as name, pg_total_relation_size(oid)::bigint as bytes from pg_class
     where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname = any($1)
       and pg_total_relation_size(oid) > current_setting('block_size')::bigint * (
         case reltoastrelid when 0 then 0 else 1 end + (select count(*) from pg_index where indrelid = pg_class.oid))
     order by relname`,
    [tables],
  );
  return rows.map(({ name, bytes }) => ({ name, bytes: Number(bytes) }));
}

async function reclaimTable(client: PoolClient, { name, bytes }: Table, keep: () => Promise<void>): Promise<void> {
  if (bytes <= MOST_REWRITTEN && (await rewrite(client, name, keep))) return;
  await client.query(`vacuum ${name}`);
}

/**
 * A rewrite that waited for its lock would keep everyone else waiting, so it waits for a moment only, and is tried again. The automatic vacuum
 * of a table that has just changed may hold it for many seconds.
 */
async function rewrite(client: PoolClient, name: string, keep: () => Promise<void>): Promise<boolean> {
  for (let tries = 0; tries < LOCK_TRIES; tries++) {
    try {
      await client.query(`set lock_timeout = ${LOCK_MS}`);
      await client.query(`vacuum full ${name}`);
      return true;
    } catch (error) {
      if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    } finally {
      await client.query('reset lock_timeout');
    }
    await sleep(LOCK_RETRY_MS);
    await keep();
  }
  return false;
}

const LOCK_MS = 50;
const LOCK_TRIES = 200;
const LOCK_RETRY_MS = 200;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * A deleted row stays as long as a transaction may still read it. These are the transactions of this database that read, and those of every
 * database of the server that write: a rewrite begins with a snapshot, which is as old as the oldest of them. Transactions of gateways are
 * short.
 */
async function untilNoOlderReader(
  client: PoolClient,
  { keep, waitMs }: { readonly keep: () => Promise<void>; readonly waitMs: number },
): Promise<void> {
  const { rows } = await client.query<{ xid: string }>('select pg_current_xact_id()::text as xid');
  for (let waited = 0; waited <= waitMs; waited += READER_RETRY_MS) {
    const older = await client.query(
      `select 1 where pg_snapshot_xmin(pg_current_snapshot()) < $1::text::xid8 or exists (
         select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and backend_xmin is not null and age(backend_xmin) > age(($1::text::bigint & 4294967295)::text::xid))`,
      [rows[0]?.xid],
    );
    if (older.rowCount === 0) return;
    await keep();
    await sleep(READER_RETRY_MS);
  }
  throw new StoreRefused(
    'A transaction that is older than the deletion is still open, so PostgreSQL keeps the deleted rows. End it, or wait for it: the deletion is tried again.',
  );
}

const MOST_WAITED_MS = 60_000;
const READER_RETRY_MS = 200;
