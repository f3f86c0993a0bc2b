import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pipeline } from '../../src/ports/store/pipeline.ts';
import { openSqliteStore } from '../../src/ports/store/sqlite/sqlite-store.ts';
import { type Params, statement } from '../../src/ports/store/statement.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { insertSetting } from '../support/settings.ts';
import { type Database, databases, onPostgres, onSqlite, onSyncedSqlite } from '../support/stores.ts';

let database: Database;
let store: Store;
const opened = (create: () => Promise<Database>) => {
  beforeEach(async () => {
    database = await create();
    store = await database.open();
  });
  afterEach(async () => {
    await store.close().catch(() => {});
    await database.remove();
  });
};
const row = (key: string, value = '1') => ({ key, value });
const keys = async (): Promise<string[]> =>
  (await store.db.selectFrom('settings').select('key').orderBy('key').execute()).map(({ key }) => key);

describe.each([onPostgres])('attacks on the store on $title', ({ create }) => {
  opened(create);

  test('statements with one text share a name, and no other statement has it', async () => {
    const same = () =>
      statement((db, { key }: Params<{ key: string }>) =>
        db.selectFrom('settings').select(['value', 'key']).where('key', '=', key),
      );
    const [one, two] = [same(), same()];
    const write = statement((db, given: Params<{ key: string; value: string }>) =>
      db.insertInto('settings').values({ key: given.key, value: given.value }),
    );
    await store.transaction(async (tx) => {
      await one(tx.db, { key: 'a' });
      await two(tx.db, { key: 'a' });
    });
    const writing = store.transaction(async (tx) => {
      await tx.db.insertInto('settings').values(row('half')).execute();
      tx.send(write, row('other half'));
    });
    const outcome = await writing.then(
      () => 'resolved',
      (error: Error) => `rejected: ${error.message}`,
    );
    expect([outcome, await keys()]).toEqual(['resolved', ['half', 'other half']]);
  });

  test('an event that is not JSON is refused before anything is committed', async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const writing = store.transaction(async (tx) => {
      await tx.db.insertInto('settings').values(row('x')).execute();
      tx.emit({ stream: 'space:1', type: 't', payload: circular });
    });
    await expect(writing).rejects.toThrow('circular');
    expect(await keys()).toEqual([]);
  });

  test('a transaction that the server says it has undone is not in doubt', async () => {
    const failing = (code: string) =>
      store.transaction(async (tx) => {
        await tx.db.insertInto('settings').values(row('x')).execute();
        const raise = sql.raw(`$$ begin raise exception 'full' using errcode = '${code}'; end $$`);
        tx.send(
          statement(() => sql`do ${raise}`),
          {},
        );
      });
    await expect(failing('53100')).rejects.toMatchObject({ name: 'StoreUnavailable', inDoubt: false });
  });
});

describe.each([...databases, onSyncedSqlite])('attacks on the store on $title', ({ create }) => {
  opened(create);

  test('work that continues after its transaction was undone writes nothing', async () => {
    const gate = Promise.withResolvers<void>();
    let late: Promise<unknown> | undefined;
    const writing = store.transaction(async (tx) => {
      const slow = async () => {
        await gate.promise;
        await tx.db.insertInto('settings').values(row('late')).execute();
      };
      late = slow();
      throw new Error('no');
    });
    await expect(writing).rejects.toThrow('no');
    gate.resolve();
    await late?.catch(() => {});
    expect(await keys()).toEqual([]);
  });

  test('work that continues after its transaction was undone does not write into another transaction', async () => {
    const gate = Promise.withResolvers<void>();
    let late: Promise<unknown> | undefined;
    await store
      .transaction(async (tx) => {
        const slow = async () => {
          await gate.promise;
          await tx.db.insertInto('settings').values(row('late')).execute();
        };
        late = slow();
        throw new Error('no');
      })
      .catch(() => {});
    await store.transaction(async (tx) => {
      await tx.db.insertInto('settings').values(row('other')).execute();
      gate.resolve();
      await late?.catch(() => {});
    });
    expect(await keys()).toEqual(['other']);
  });

  test('a statement that is sent when the transaction is over is refused, and not written', async () => {
    let late = (): unknown => undefined;
    await store.transaction(async (tx) => {
      late = () => tx.send(insertSetting, row('late'));
    });
    expect(late).toThrow('The transaction is over');
    expect(await keys()).toEqual([]);
  });
});

describe.each([onSqlite, onSyncedSqlite])('attacks on the store on $title', ({ create }) => {
  opened(create);

  test('statements after one that made the database abort the transaction are not written', async () => {
    await store.transaction((tx) => tx.db.insertInto('settings').values(row('count', '0')).execute());
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(store.db);
    await sql`pragma max_page_count = ${sql.lit(rows[0]?.page_count ?? 0)}`.execute(store.db);
    const writing = store.transaction(async (tx) => {
      tx.send(insertSetting, row('big', 'x'.repeat(1_000_000)));
      tx.send(
        statement((db) => db.updateTable('settings').set({ value: '1' }).where('key', '=', 'count')),
        {},
      );
    });
    await expect(writing).rejects.toThrow('full');
    expect(await store.db.selectFrom('settings').selectAll().execute()).toEqual([row('count', '0')]);
  });

  test('statements pipelined with one that made the database abort the transaction are not written', async () => {
    await store.transaction((tx) => tx.db.insertInto('settings').values(row('count', '0')).execute());
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(store.db);
    await sql`pragma max_page_count = ${sql.lit(rows[0]?.page_count ?? 0)}`.execute(store.db);
    const writing = store.transaction((tx) =>
      pipeline(
        tx.db
          .insertInto('settings')
          .values(row('big', 'x'.repeat(1_000_000)))
          .execute(),
        tx.db.updateTable('settings').set({ value: '1' }).where('key', '=', 'count').execute(),
      ),
    );
    await expect(writing).rejects.toThrow('full');
    expect(await store.db.selectFrom('settings').selectAll().execute()).toEqual([row('count', '0')]);
  });

  test('during a pause in a long queue no reader sees writes that could still be undone', async () => {
    await store.close();
    // A pause is due at every check of the clock except the first after a turn of the event loop.
    store = await openSqliteStore({ home: database.location, sliceMs: -1 });
    const other = new DatabaseSync(join(database.location, 'lastcall.db'), { readOnly: true });
    const durable = (): unknown => other.prepare('select count(*) as count from settings').get()?.count;
    const pause = Promise.withResolvers<void>();
    const reading = pause.promise.then(keys).then((found) => [found.length, durable()]);
    const first = store.transaction(async (tx) => {
      await tx.db.insertInto('settings').values(row('a')).execute();
      await turnOfTheLoop();
      // The second transaction joins meanwhile, and if a pause follows, the reader outside of all transactions runs.
      tx.beforeCommit(() => void setImmediate(pause.resolve));
    });
    const second = store.transaction(async (tx) => {
      await turnOfTheLoop();
      await tx.db.insertInto('settings').values(row('b')).execute();
    });
    const [found, isDurable] = await reading;
    await Promise.all([first, second]);
    other.close();
    expect(found).toBe(isDurable);
  });

  test('every queued transaction rejects when the store is closed', async () => {
    const gate = Promise.withResolvers<void>();
    const inside = Promise.withResolvers<void>();
    const first = store.transaction(() => (inside.resolve(), gate.promise));
    await inside.promise;
    const waiting = [first, store.transaction(async () => 'second'), keys()];
    const ended = Promise.allSettled(waiting);
    await turnOfTheLoop();
    await store.close();
    gate.resolve();
    expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });
});
