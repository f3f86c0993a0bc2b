import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresStore } from '../../packages/gateway/src/ports/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../packages/gateway/src/ports/store/sqlite/sqlite-store.ts';
import { startPooler, throughPooler } from '../../packages/gateway/test/support/pooler.ts';
import { type PostgresServer, startPostgres } from '../../packages/gateway/test/support/postgres-server.ts';
import { type Filling, fillingOf } from './filling.ts';
import { STATEMENT_SETTINGS } from './statement-times.ts';

export type BenchSettings =
  | { readonly home: string }
  | { readonly databaseUrl: string; readonly databaseDirectUrl?: string };

/** The database of a gateway: the settings for it, and access for the benchmark that fills it or counts rows. */
export interface BenchDatabase {
  readonly settings: BenchSettings;
  /** The embedded store can be opened only while no gateway has it open; the shared one, at any time. */
  open(): Promise<Filling>;
}

/** Creates the databases of one benchmark, and removes them. */
export interface BenchDatabases {
  sqlite(): Promise<BenchDatabase>;
  postgres(): Promise<BenchDatabase>;
  /** PostgreSQL behind a pooler in transaction mode: PgBouncer, if there is one. */
  pooledPostgres(): Promise<BenchDatabase>;
  close(): Promise<void>;
}

export function openDatabases(): BenchDatabases {
  const folders: string[] = [];
  let server: Promise<PostgresServer> | undefined;
  const poolers: AsyncDisposable[] = [];
  return {
    async sqlite() {
      const home = await mkdtemp(join(tmpdir(), 'lastcall-bench-'));
      folders.push(home);
      // Filling is not what is measured.
      const open = async (): Promise<Filling> => fillingOf(await openSqliteStore({ home, synchronous: 'NORMAL' }));
      return { settings: { home }, open };
    },
    async postgres() {
      server ??= startPostgres(STATEMENT_SETTINGS);
      const url = await (await server).createDatabase();
      const open = async (): Promise<Filling> => fillingOf(await openPostgresStore({ url, connections: 2 }));
      return { settings: { databaseUrl: url }, open };
    },
    async pooledPostgres() {
      server ??= startPostgres(STATEMENT_SETTINGS);
      const directUrl = await (await server).createDatabase();
      const pooler = await startPooler(directUrl, { connections: 10 });
      poolers.push(pooler);
      const open = async (): Promise<Filling> => fillingOf(await openPostgresStore({ url: directUrl, connections: 2 }));
      const direct = `${directUrl}?application_name=direct`;
      return { settings: { databaseUrl: throughPooler(directUrl, pooler), databaseDirectUrl: direct }, open };
    },
    async close() {
      for (const pooler of poolers) await pooler[Symbol.asyncDispose]();
      await (await server)?.stop();
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Measures on both stores, or on those that `BENCH_STORE` names. */
export async function onEachStore<T>(measure: (store: string, database: BenchDatabase) => Promise<T>): Promise<T[]> {
  const databases = openDatabases();
  const stores = (process.env.BENCH_STORE ?? 'sqlite,postgres').split(',');
  try {
    const measured: T[] = [];
    if (stores.includes('sqlite')) measured.push(await measure('SQLite', await databases.sqlite()));
    if (stores.includes('postgres')) measured.push(await measure('PostgreSQL', await databases.postgres()));
    return measured;
  } finally {
    await databases.close();
  }
}
