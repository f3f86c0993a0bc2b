import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqliteStore } from '../../src/ports/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/ports/store/store.ts';

let home: string;
let store: Store;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lastcall-groups-'));
  store = await openSqliteStore({ home });
});
afterEach(async () => {
  await store.close();
  await rm(home, { recursive: true, force: true });
});

const put = (key: string, value = '1'): Promise<unknown> =>
  store.transaction((tx) => tx.db.insertInto('settings').values({ key, value }).execute());
const count = async (): Promise<number> => (await store.db.selectFrom('settings').select('key').execute()).length;

test('transactions that the database itself aborts all reject, and leave nothing', async () => {
  await put('before');
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(store.db);
  await sql`pragma max_page_count = ${sql.lit(rows[0]?.page_count ?? 0)}`.execute(store.db);
  // There is no room for the big one; those before and after it in the queue are small.
  const all = ['a', 'b', 'big', 'c'].map((key) => put(key, key === 'big' ? 'x'.repeat(1_000_000) : '1'));
  const settled = await Promise.allSettled(all);
  expect(settled[2]?.status).toBe('rejected');
  const kept = settled.filter(({ status }) => status === 'fulfilled').length;
  // Exactly the rows of the resolved transactions exist.
  expect(await count()).toBe(1 + kept);
  await sql`pragma max_page_count = 1000000`.execute(store.db);
  await put('after', 'x'.repeat(1_000_000));
  expect(await count()).toBe(2 + kept);
});

test('a read outside of transactions sees durable rows, and nothing that could still be undone', async () => {
  const other = new DatabaseSync(join(home, 'lastcall.db'), { readOnly: true });
  const durable = (): number => Number(other.prepare('select count(*) as count from settings').get()?.count);
  const inserted = { x: Promise.withResolvers<void>(), y: Promise.withResolvers<void>() };
  const undone = async (key: 'x' | 'y'): Promise<void> =>
    await store.transaction(async (tx) => {
      await tx.db.insertInto('settings').values({ key, value: '1' }).execute();
      inserted[key].resolve();
      // Time for a read in between.
      for (let turn = 0; turn < 50; turn++) await Promise.resolve();
      throw new Error('undone');
    });
  const seen: { before: number; keys: readonly string[]; after: number }[] = [];
  const look = async (after: 'x' | 'y'): Promise<void> => {
    await inserted[after].promise;
    const before = durable();
    const rows = await store.db.selectFrom('settings').select('key').execute();
    seen.push({ before, keys: rows.map(({ key }) => key), after: durable() });
  };
  await Promise.allSettled([put('a'), undone('x'), look('x'), put('b'), undone('y'), look('y'), put('c')]);
  other.close();
  expect(seen).toHaveLength(2);
  for (const { before, keys, after } of seen) {
    expect(keys.filter((key) => key === 'x' || key === 'y')).toEqual([]);
    expect(keys.length).toBeGreaterThanOrEqual(before);
    expect(keys.length).toBeLessThanOrEqual(after);
  }
  // They go ahead of others, between transactions that would have been committed together.
  expect(seen[0]?.keys.length).toBeLessThan(3);
});

test('queued transactions are committed together', async () => {
  const watched: string[] = [];
  const other = new DatabaseSync(join(home, 'lastcall.db'), { readOnly: true });
  const durable = (): unknown => other.prepare('select count(*) as count from settings').get()?.count;
  await store.close();
  // Without pauses, however slow the machine is.
  store = await openSqliteStore({ home, sliceMs: Number.POSITIVE_INFINITY });
  const putAndLook = (key: string): Promise<void> =>
    store.transaction(async (tx) => {
      await tx.db.insertInto('settings').values({ key, value: '1' }).execute();
      watched.push(`${key} ${durable()}`);
    });
  await Promise.all(['a', 'b', 'c'].map(putAndLook));
  await putAndLook('d');
  other.close();
  expect(watched).toEqual(['a 0', 'b 0', 'c 0', 'd 3']);
});

test('transactions that a caller waits for go ahead of others, and never delay them for ever', async () => {
  const went: string[] = [];
  const add = (name: string, isUrgent: boolean): Promise<void> =>
    store.transaction(async () => void went.push(name), { isUrgent });
  const others = Array.from({ length: 5 }, (_, index) => add(`other ${index}`, false));
  const firsts = Array.from({ length: 20 }, (_, index) => add(`first ${index}`, true));
  await Promise.all([...others, ...firsts]);
  // The very first may have begun before it was queued, unless there was a pause.
  expect(went.indexOf('first 0')).toBeLessThanOrEqual(1);
  expect(went.indexOf('other 1')).toBeLessThan(went.indexOf('first 10'));
  expect(went.filter((name) => name.startsWith('first'))).toEqual(firsts.map((_, index) => `first ${index}`));
});

test('a long queue of transactions lets the process do other work in between', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  // Each takes a while, and none waits for anything.
  const busy = (): Promise<void> =>
    store.transaction(async () => {
      const until = performance.now() + 2;
      while (performance.now() < until);
    });
  await Promise.all(Array.from({ length: 50 }, busy));
  isOver = true;
  expect(turns).toBeGreaterThan(5);
});

test('pages and the undo data of savepoints stay in memory, and the log is copied every 16 MB', async () => {
  const pragma = async (name: string): Promise<unknown> =>
    Object.values((await sql<object>`pragma ${sql.raw(name)}`.execute(store.db)).rows[0] ?? {})[0];
  expect(await pragma('temp_store')).toBe(2);
  expect(await pragma('cache_size')).toBe(-65_536);
  expect(await pragma('wal_autocheckpoint')).toBe(4_000);
});
