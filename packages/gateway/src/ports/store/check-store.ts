import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { assertAnyText } from './postgres/postgres-encoding.ts';
import { toStoreError } from './postgres/postgres-error.ts';
import { toOpenError } from './postgres/postgres-open-error.ts';
import { createPooledPool } from './postgres/postgres-pool.ts';
import { assertPoolerFits } from './postgres/postgres-pooler.ts';
import { makePrivateDatabase, makePrivateFolder } from './sqlite/private-folder.ts';
import { fullAtStart } from './sqlite/sqlite-error.ts';
import { assertDatabase, assertOwnDatabase } from './sqlite/sqlite-file.ts';

/**
 * Checks whether a store can be used, without changing its contents. Throws a StoreRefused that says what to do.
 * Resolves with `in use` if another gateway has locked the folder.
 */
export async function checkStore({
  databaseUrl,
  databaseDirectUrl,
  home,
}: {
  databaseUrl: string | undefined;
  databaseDirectUrl?: string | undefined;
  home: string;
}): Promise<'ok' | 'in use'> {
  return databaseUrl === undefined ? checkFolder(home) : await checkPostgres(databaseUrl, databaseDirectUrl);
}

async function checkPostgres(url: string, directUrl: string | undefined): Promise<'ok'> {
  const pool = createPooledPool(url, 1);
  try {
    await assertAnyText(pool);
    await assertPoolerFits(url, directUrl);
    return 'ok';
  } catch (error) {
    throw toOpenError(toStoreError(error), url);
  } finally {
    await pool.end();
  }
}

function checkFolder(home: string): 'ok' | 'in use' {
  makePrivateFolder(home);
  assertDatabase(join(home, 'lock.db'));
  const lock = new DatabaseSync(makePrivateDatabase(home, 'lock.db'));
  try {
    lock.exec('pragma busy_timeout = 0; begin exclusive');
  } catch (error) {
    lock.close();
    const full = fullAtStart(home, error);
    if (full !== undefined) throw full;
    return 'in use';
  }
  try {
    assertOwnDatabase(join(home, 'lastcall.db'));
    return 'ok';
  } finally {
    lock.close();
  }
}
