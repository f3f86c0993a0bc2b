import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openPostgresStore } from '../../src/ports/store/postgres-store.ts';
import { openSqliteStore } from '../../src/ports/store/sqlite-store.ts';
import { startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the server's own database: tests make theirs beside it. */
    postgresUrl: string;
    /** A database that has all tables: others are copied from it. */
    postgresTemplate: string;
    /** The file of an SQLite database that has all tables: it is copied too. */
    sqliteTemplate: string;
  }
}

/** Tests survive no power cut: waiting for the disk was most of what they did. What a commit means to other connections stays. */
const QUICK = { fsync: 'off', full_page_writes: 'off' };

/** One PostgreSQL server for all test files: starting it takes a second, a database in it a few milliseconds. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres(QUICK);
  // The package that runs the server ends the process with 0 once nothing is left to do, also when tests have failed.
  process.prependListener('beforeExit', () => {
    if (process.exitCode) process.exit();
  });
  project.provide('postgresUrl', await server.createDatabase());
  project.provide('postgresTemplate', await migrate(await server.createDatabase()));
  const home = await mkdtemp(join(tmpdir(), 'lastcall-template-'));
  await (await openSqliteStore({ home })).close();
  project.provide('sqliteTemplate', join(home, 'lastcall.db'));
  return async () => {
    await server.stop();
    await rm(home, { recursive: true, force: true });
  };
}

/** The tables of the store, made once: a copy takes less time than to make them in each database. */
async function migrate(url: string): Promise<string> {
  await (await openPostgresStore({ url })).close();
  return new URL(url).pathname.slice(1);
}
