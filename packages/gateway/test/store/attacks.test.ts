import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { emit } from '../../src/domain/streams/emit.ts';
import { pipeline } from '../../src/ports/store/pipeline.ts';
import { type Params, statement } from '../../src/ports/store/statement.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { insertSetting } from '../support/settings.ts';
import { type Database, databases } from '../support/stores.ts';

const of = (kind: string) => databases.filter((one) => one.kind === kind);
const stuck = Symbol('stuck');
const within = <T>(ms: number, promise: Promise<T>): Promise<T | typeof stuck> =>
  Promise.race([promise, sleep(ms, stuck)]);

let database: Database;
let store: Store;
const opened = (create: () => Promise<Database>) => {
  beforeEach(async () => {
    database = await create();
    store = await database.open();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await within(
      3_000,
      store.close().catch(() => {}),
    );
    await database.remove();
  });
};
const row = (key: string, value = '1') => ({ key, value });
const keys = async (): Promise<string[]> =>
  (await store.db.selectFrom('settings').select('key').orderBy('key').execute()).map(({ key }) => key);

describe.each(of('postgres'))('attacks on the store on $kind', ({ create }) => {
  opened(create);

  test('statements of one text share a name, and no other has it', async () => {
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

  test('an event that is no JSON is refused before anything is committed', async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const bus = { publish: () => {} } as never;
    const writing = store.transaction(async (tx) => {
      await tx.db.insertInto('settings').values(row('x')).execute();
      emit({ bus }, tx, { channel: 'space:1', type: 't', payload: circular });
    });
    await expect(writing).rejects.toThrow('circular');
    expect(await keys()).toEqual([]);
  });

  test('what the server says it has undone is not in doubt', async () => {
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

describe.each(databases)('attacks on the store on $kind', ({ create }) => {
  opened(create);

  test('what goes on after its transaction was undone writes nothing', async () => {
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

  test('nor into the transaction of somebody else', async () => {
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

describe.each(of('sqlite'))('attacks on the store on $kind', ({ create }) => {
  opened(create);

  test('what follows a statement that made the database give up the transaction is not written', async () => {
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

  test('nor what travels together with it', async () => {
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

  test('a pause in a long line shows nobody what could still be undone', async () => {
    const other = new DatabaseSync(join(database.location, 'lastcall.db'), { readOnly: true });
    const durable = (): unknown => other.prepare('select count(*) as count from settings').get()?.count;
    const pause = Promise.withResolvers<void>();
    // Of somebody outside of all transactions, who comes during the pause.
    const reading = pause.promise.then(keys).then((found) => [found.length, durable()]);
    const first = store.transaction(async (tx) => {
      await tx.db.insertInto('settings').values(row('a')).execute();
      tx.beforeCommit(() => {
        const real = performance.now.bind(performance);
        let looks = 0;
        // The look that lets the next one join is in time, the look of `pass` right after it is not.
        vi.spyOn(performance, 'now').mockImplementation(() => {
          if (++looks === 1) return real();
          vi.restoreAllMocks();
          pause.resolve();
          return real() + 100;
        });
      });
    });
    const second = store.transaction(async (tx) => {
      await sleep(50);
      await tx.db.insertInto('settings').values(row('b')).execute();
    });
    const [found, isDurable] = await reading;
    await Promise.all([first, second]);
    other.close();
    expect(found).toBe(isDurable);
  });

  test('whoever is in line when the store is closed is told', async () => {
    const gate = Promise.withResolvers<void>();
    const first = store.transaction(async () => {
      await gate.promise;
    });
    const second = store.transaction(async () => 'second');
    const third = keys();
    first.catch(() => {});
    second.catch(() => {});
    third.catch(() => {});
    await sleep(5);
    await store.close();
    gate.resolve();
    const of = (one: Promise<unknown>) =>
      within(
        500,
        one.then(
          () => 'resolved',
          () => 'rejected',
        ),
      );
    expect([await of(first), await of(second), await of(third)]).not.toContain(stuck);
  });
});
