// What a connection to PostgreSQL survives. That the store keeps its promises meanwhile is in contract.test.ts.
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPostgresStore } from '../../src/ports/store/postgres-store.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { insertSetting } from '../support/settings.ts';
import { type Database, onPostgres } from '../support/stores.ts';

let database: Database;
let store: Store;
beforeEach(async () => {
  database = await onPostgres.create();
  // With one connection every statement meets what was done to it before.
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
