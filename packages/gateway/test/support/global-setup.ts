import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../src/ports/store/sqlite/sqlite-store.ts';
import { startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the server's default database. Tests create separate ones. */
    postgresUrl: string;
    /** A database that has all tables: others are copied from it. */
    postgresTemplate: string;
    /** The file of an SQLite database that has all tables: it is copied too. */
    sqliteTemplate: string;
  }
}

/** Tests need not survive a power cut, and waiting for the disk took most of their time. Visibility of commits is not affected. */
const QUICK = {
  ...{ fsync: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: '0' },
  // Autovacuum would visit each of the hundreds of databases, which are removed before that could help.
  autovacuum: 'off',
  // To check a password, the server hashes it as often as it did when the password was set: 4,096 times by default.
  scram_iterations: '1',
};

interface SharedDatabases {
  readonly provided: Pick<ProvidedContext, 'postgresUrl' | 'postgresTemplate' | 'sqliteTemplate'>;
  remove(): Promise<void>;
  users: number;
}

/** Each project loads its own copy of this file, so only globals are shared by all of them. */
const shared = globalThis as { lastcallTestDatabases?: Promise<SharedDatabases> | undefined };

/** One PostgreSQL server for all test files of all projects: starting it takes a second, a database in it a few milliseconds. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // The folder of the tests, which run in other processes than this.
  shared.lastcallTestDatabases ??= startDatabases(project.config.env.TMPDIR ?? tmpdir());
  const databases = await shared.lastcallTestDatabases;
  databases.users++;
  for (const [name, value] of Object.entries(databases.provided)) project.provide(name as keyof ProvidedContext, value);
  return async () => {
    if (--databases.users > 0) return;
    shared.lastcallTestDatabases = undefined;
    await databases.remove();
  };
}

async function startDatabases(folder: string): Promise<SharedDatabases> {
  const server = await startPostgres(QUICK, { folder });
  // The package that runs the server ends the process with 0 once nothing is left to do, also when tests have failed.
  process.prependListener('beforeExit', () => {
    if (process.exitCode) process.exit();
  });
  const postgresUrl = await server.createDatabase();
  await setPasswordAgain(postgresUrl);
  const postgresTemplate = await migrate(await server.createDatabase());
  const home = await mkdtemp(join(folder, 'lastcall-template-'));
  await (await openSqliteStore({ home })).close();
  return {
    provided: { postgresUrl, postgresTemplate, sqliteTemplate: join(home, 'lastcall.db') },
    async remove() {
      await server.stop();
      await rm(home, { recursive: true, force: true });
    },
    users: 0,
  };
}

/** `initdb` hashed the password before `scram_iterations` applied. */
async function setPasswordAgain(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { username, password } = new URL(url);
  await client.query(`alter role ${username} password '${password}'`);
  await client.end();
}

/** The tables of the store, made once: a copy takes less time than to make them in each database. */
async function migrate(url: string): Promise<string> {
  await (await openPostgresStore({ url })).close();
  return new URL(url).pathname.slice(1);
}
