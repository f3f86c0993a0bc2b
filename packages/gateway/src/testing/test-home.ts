import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../ports/store/sqlite/sqlite-store.ts';

const DATABASE = 'lastcall.db';

let homes = 0;
let template: Promise<Buffer> | undefined;

/**
 * A temporary folder for the database of a test gateway. From the second one of a process on, it holds a copy of a
 * database that has all tables: a file of tests starts many gateways, and half of each start was making the tables.
 */
export async function createTestHome(): Promise<string> {
  const home = await temporaryFolder();
  if (homes++ === 0) return home;
  template ??= readEmptyDatabase();
  await writeFile(join(home, DATABASE), await template, { mode: 0o600 });
  return home;
}

async function readEmptyDatabase(): Promise<Buffer> {
  const home = await temporaryFolder();
  try {
    await (await openSqliteStore({ home, synchronous: 'NORMAL' })).close();
    return await readFile(join(home, DATABASE));
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function temporaryFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), 'lastcall-test-'));
}
