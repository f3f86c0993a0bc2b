// What a connection to PostgreSQL survives. contract.test.ts checks that the store keeps its contract meanwhile.
import { sql } from 'kysely';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import { statement } from '../../src/ports/store/statement.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { insertSetting } from '../support/settings.ts';
import { type Database, onPostgres } from '../support/stores.ts';

let database: Database;
let store: Store;
beforeEach(async () => {
  database = await onPostgres.create();
  // With one connection every statement runs on the one that was changed before.
  store = await openPostgresStore({ url: database.location, connections: 1 });
});
afterEach(async () => {
  await store.close();
  await database.remove();
});
const keys = async (): Promise<string[]> =>
  (await store.db.selectFrom('settings').select('key').orderBy('key').execute()).map(({ key }) => key);

test('a command that counts no rows is answered like any other', async () => {
  await store.transaction(async (tx) => {
    const { numAffectedRows } = await sql`lock table settings in exclusive mode`.execute(tx.db);
    expect(numAffectedRows).toBe(0n);
    tx.send(insertSetting, { key: 'a', value: '1' });
  });
  expect(await keys()).toEqual(['a']);
});

test('a transaction succeeds on a connection whose prepared statements the server has forgotten', async () => {
  const write = (key: string): Promise<void> =>
    store.transaction(async (tx) => {
      tx.send(insertSetting, { key, value: '1' });
    });
  await write('a');
  await sql`deallocate all`.execute(store.db);
  await write('b');
  expect(await keys()).toEqual(['a', 'b']);
});

test('a statement is prepared again when a migration has changed the type of a column', async () => {
  const migration = new Client({ connectionString: database.location });
  await migration.connect();
  await migration.query('create table things (size int); insert into things values (1)');
  const readSize = statement(() => sql<{ size: unknown }>`select size from things`);
  const read = (): Promise<{ size: unknown }[]> => store.transaction((tx) => readSize(tx.db, {}));
  expect(await read()).toEqual([{ size: 1 }]);
  await migration.query('alter table things alter column size type text');
  await migration.end();
  expect(await read()).toEqual([{ size: '1' }]);
});
