import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../src/store/store.ts';
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

  test('what a transaction wrote is there once it resolves', async () => {
    await store.transaction((tx) => tx.db.insertInto('settings').values(setting('kept')).execute());
    expect(await store.db.selectFrom('settings').selectAll().where('key', '=', 'kept').execute()).toEqual([
      setting('kept'),
    ]);
  });

  test('a transaction that rejects has changed nothing, and nobody is told', async () => {
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

  test('last work runs inside the transaction, what is left for after once it is durable', async () => {
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

  test('transactions side by side lose no update', async () => {
    await store.transaction((tx) =>
      tx.db.insertInto('channels').values({ id: 'c', next_seq: 0, swept_seq: 0 }).execute(),
    );
    await Promise.all(
      Array.from({ length: 30 }, () =>
        store.transaction((tx) =>
          tx.db
            .updateTable('channels')
            .set((eb) => ({ next_seq: eb('next_seq', '+', 1) }))
            .where('id', '=', 'c')
            .execute(),
        ),
      ),
    );
    const row = await store.db.selectFrom('channels').select('next_seq').where('id', '=', 'c').executeTakeFirst();
    expect(row?.next_seq).toBe(30);
  });

  test('numbers come back as numbers, also large ones', async () => {
    await store.transaction((tx) =>
      tx.db
        .insertInto('channels')
        .values({ id: 'big', next_seq: 2 ** 52, swept_seq: 0 })
        .execute(),
    );
    const row = await store.db.selectFrom('channels').select('next_seq').where('id', '=', 'big').executeTakeFirst();
    expect(row?.next_seq).toBe(2 ** 52);
  });

  test('a second start finds the tables as they are', async () => {
    await store.close();
    store = await database.open();
    expect(await store.db.selectFrom('settings').select('key').where('key', '=', 'kept').execute()).toHaveLength(1);
  });

  test('the clock of the database is near ours', async () => {
    const now = await store.transaction(async (tx) => tx.now());
    expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
  });
});
