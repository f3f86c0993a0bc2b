import { randomUUID } from 'node:crypto';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { inject } from 'vitest';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../src/ports/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/ports/store/store.ts';
import type { StoreParts } from '../../src/ports/store/store-parts.ts';

/** A new database of this kind, with empty tables, and stores on it. */
export interface Database {
  readonly kind: 'sqlite' | 'postgres';
  /** DATABASE_URL for PostgreSQL; the home folder for SQLite. */
  readonly location: string;
  /** The same database through a pooler in transaction mode, if there is one. */
  readonly pooledUrl?: string;
  /** Without parts, nothing is published or woken, and the limits are the defaults. */
  open(parts?: StoreParts): Promise<Store>;
  remove(): Promise<void>;
}

export interface DatabaseKind {
  readonly kind: Database['kind'];
  /** For titles. */
  readonly title: string;
  readonly create: () => Promise<Database>;
}

export const onSqlite: DatabaseKind = { kind: 'sqlite', title: 'sqlite', create: () => createSqlite('NORMAL') };
/** The default of users: answered commits survive a power cut. For the contract of the store and attacks on it. */
export const onSyncedSqlite: DatabaseKind = {
  kind: 'sqlite',
  title: 'sqlite with synced commits',
  create: () => createSqlite('FULL'),
};
export const onPostgres: DatabaseKind = { kind: 'postgres', title: 'postgres', create: createPostgres };

/**
 * Both databases: for the contract of the store, for crashes, and for behaviour of the database: locks, the order of commits, what its texts
 * may contain. All other tests run on the embedded one.
 */
export const databases: readonly DatabaseKind[] = [onSqlite, onPostgres];
export const embedded: readonly DatabaseKind[] = [onSqlite];

/** Where a gateway finds it, as options of `createGateway`. */
export function locationOf({
  kind,
  location,
  pooledUrl,
}: Database): { databaseUrl: string; databaseDirectUrl?: string } | { home: string } {
  if (pooledUrl !== undefined) return { databaseUrl: pooledUrl, databaseDirectUrl: location };
  return kind === 'postgres' ? { databaseUrl: location } : { home: location };
}

async function createSqlite(synchronous: 'FULL' | 'NORMAL'): Promise<Database> {
  const home = await mkdtemp(join(tmpdir(), 'lastcall-sqlite-'));
  await copyFile(inject('sqliteTemplate'), join(home, 'lastcall.db'));
  return {
    kind: 'sqlite',
    location: home,
    // Most tests need not survive a power cut, so the faster mode is used.
    open: (parts) => openSqliteStore({ home, synchronous }, parts),
    remove: () => rm(home, { recursive: true, force: true }),
  };
}

async function createPostgres(): Promise<Database> {
  const url = new URL(inject('postgresUrl'));
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  // Its files are copied: the default, to write each page to the log, takes ten times as long.
  await administer(url.href, `create database ${name} template ${inject('postgresTemplate')} strategy file_copy`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  return {
    kind: 'postgres',
    location: own.href,
    open: (parts) => openPostgresStore({ url: own.href, connections: 8 }, parts),
    remove: () => administer(url.href, `drop database if exists ${name} with (force)`),
  };
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
