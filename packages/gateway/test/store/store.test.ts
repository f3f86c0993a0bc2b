import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Params, statement } from '../../src/ports/store/statement.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { insertSetting } from '../support/settings.ts';
import { type Database, databases } from '../support/stores.ts';

describe.each(databases)('the store on $kind', ({ create }) => {
  let database: Database;
  let store: Store;
  beforeAll(async () => {
    database = await create();
    store = await database.open();
  });
  afterAll(async () => {
    await store.close();
    await database.remove();
  });

  const setting = (key: string, value = '1') => ({ key, value });

  test('the writes of a transaction can be read once it resolves', async () => {
    await store.transaction((tx) => tx.db.insertInto('settings').values(setting('kept')).execute());
    expect(await store.db.selectFrom('settings').selectAll().where('key', '=', 'kept').execute()).toEqual([
      setting('kept'),
    ]);
  });

  test('a transaction that rejects has changed nothing, and publishes nothing', async () => {
    const told: string[] = [];
    const failing = store.transaction(async (tx) => {
      tx.afterCommit(() => told.push('told'));
      await tx.db.insertInto('settings').values(setting('lost')).execute();
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await store.db.selectFrom('settings').selectAll().where('key', '=', 'lost').execute()).toEqual([]);
    expect(told).toEqual([]);
  });

  test('beforeCommit work runs inside the transaction, and afterCommit work once it is durable', async () => {
    const order: string[] = [];
    await store.transaction(async (tx) => {
      tx.afterCommit(() => order.push('after'));
      tx.beforeCommit(async () => {
        order.push('before');
        await tx.db.insertInto('settings').values(setting('last')).execute();
      });
      order.push('work');
    });
    expect(order).toEqual(['work', 'before', 'after']);
    expect(await store.db.selectFrom('settings').select('key').where('key', '=', 'last').execute()).toHaveLength(1);
  });

  test('the store itself cannot be used inside a transaction', async () => {
    const misusing = store.transaction(() => store.db.selectFrom('settings').selectAll().execute());
    await expect(misusing).rejects.toMatchObject({ code: 'store_misuse' });
    const nesting = store.transaction(() => store.transaction(async () => 1));
    await expect(nesting).rejects.toMatchObject({ code: 'store_misuse' });
  });

  test('parallel transactions lose no update', async () => {
    await store.transaction((tx) =>
      tx.db.insertInto('streams').values({ id: 'c', next_seq: 0, swept_seq: 0 }).execute(),
    );
    await Promise.all(
      Array.from({ length: 30 }, () =>
        store.transaction((tx) =>
          tx.db
            .updateTable('streams')
            .set((eb) => ({ next_seq: eb('next_seq', '+', 1) }))
            .where('id', '=', 'c')
            .execute(),
        ),
      ),
    );
    const row = await store.db.selectFrom('streams').select('next_seq').where('id', '=', 'c').executeTakeFirst();
    expect(row?.next_seq).toBe(30);
  });

  test('of parallel transactions, those that fail change nothing, and the others are committed', async () => {
    const keys = Array.from({ length: 60 }, (_, index) => `side-${index}`);
    const isBad = (key: string): boolean => key.endsWith('3') || key === 'side-0';
    const told: string[] = [];
    const settled = await Promise.allSettled(
      keys.map((key) =>
        store.transaction(async (tx) => {
          tx.afterCommit(() => told.push(key));
          await tx.db.insertInto('settings').values(setting(key)).execute();
          // The database itself refuses the row that is written twice; the first one is failed by the test.
          if (key === 'side-0') throw new Error('no');
          if (isBad(key)) await tx.db.insertInto('settings').values(setting('kept')).execute();
        }),
      ),
    );
    const rows = await store.db.selectFrom('settings').select('key').where('key', 'like', 'side-%').execute();
    const good = keys.filter((key) => !isBad(key));
    expect(rows.map(({ key }) => key).sort()).toEqual(good.toSorted());
    expect(told.toSorted()).toEqual(good.toSorted());
    expect(settled.map(({ status }) => status === 'fulfilled')).toEqual(keys.map((key) => !isBad(key)));
  });

  test('a statement that was not awaited and fails undoes the transaction, with everything sent after it', async () => {
    const told: string[] = [];
    const failing = store.transaction(async (tx) => {
      tx.afterCommit(() => told.push('told'));
      tx.send(insertSetting, setting('kept'));
      tx.send(insertSetting, setting('after'));
    });
    await expect(failing).rejects.toThrow(/unique|duplicate/i);
    expect(await store.db.selectFrom('settings').select('key').where('key', '=', 'after').execute()).toEqual([]);
    expect(told).toEqual([]);
  });

  test('a statement that is compiled once runs with other values each time, alone and in transactions', async () => {
    const put = statement((db, given: Params<{ key: string; value: string }>) =>
      db.insertInto('settings').values({ key: given.key, value: given.value }).returning('key'),
    );
    const get = statement((db, { key }: Params<{ key: string }>) =>
      db.selectFrom('settings').select(['key', 'value']).where('key', '=', key),
    );
    const keys = Array.from({ length: 10 }, (_, index) => `compiled-${index}`);
    await store.transaction(async (tx) => {
      const put1 = keys.map((key) => put(tx.db, setting(key, key)));
      expect(await Promise.all(put1)).toEqual(keys.map((key) => [{ key }]));
      expect(await get(tx.db, { key: 'compiled-3' })).toEqual([setting('compiled-3', 'compiled-3')]);
    });
    expect(await Promise.all(keys.map((key) => get(store.db, { key })))).toEqual(
      keys.map((key) => [setting(key, key)]),
    );
    // If it fails, it can still be used afterwards.
    const again = store.transaction(async (tx) => void (await put(tx.db, setting('compiled-1'))));
    await expect(again).rejects.toThrow(/unique|duplicate/i);
    expect(await store.transaction((tx) => put(tx.db, setting('compiled-new')))).toEqual([{ key: 'compiled-new' }]);
  });

  test('numbers are read back as numbers, also large ones', async () => {
    await store.transaction((tx) =>
      tx.db
        .insertInto('streams')
        .values({ id: 'big', next_seq: 2 ** 52, swept_seq: 0 })
        .execute(),
    );
    const row = await store.db.selectFrom('streams').select('next_seq').where('id', '=', 'big').executeTakeFirst();
    expect(row?.next_seq).toBe(2 ** 52);
  });

  test('a second start does not change the tables', async () => {
    await store.close();
    store = await database.open();
    expect(await store.db.selectFrom('settings').select('key').where('key', '=', 'kept').execute()).toHaveLength(1);
  });

  test('the clock of the database is close to the local one', async () => {
    const now = await store.transaction(async (tx) => tx.now());
    expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
  });
});
