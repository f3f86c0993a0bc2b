// The contract of the store, one test for each clause: see src/ports/store/store.ts.
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_GATEWAY_LIMITS } from '../../src/config/limits.ts';
import { lockRows } from '../../src/ports/store/lock-rows.ts';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import { isRowMissing, requireRow } from '../../src/ports/store/require-row.ts';
import type { SpaceRow } from '../../src/ports/store/schema/tables.ts';
import { type Params, statement } from '../../src/ports/store/statement.ts';
import type { Store, Tx } from '../../src/ports/store/store.ts';
import type { StoreParts } from '../../src/ports/store/store-parts.ts';
import { holdLock } from '../support/held-lock.ts';
import { onPooledPostgres } from '../support/pooled-postgres.ts';
import { insertSetting } from '../support/settings.ts';
import { type Database, databases, onPostgres, onSqlite, onSyncedSqlite } from '../support/stores.ts';
import { type TappedWire, tapWire } from '../support/tapped-wire.ts';

const LOCK_NOT_AVAILABLE = '55P03';
let database: Database;
let store: Store;
/** What was published and woken, in order. */
let heard: string[];
const parts: StoreParts = {
  bus: { publish: (events) => void heard.push(...events.map(({ stream, seq, type }) => `${stream} ${seq} ${type}`)) },
  scheduler: { enqueue: (threadId, options) => void heard.push(options?.isUrgent ? `${threadId}@urgent` : threadId) },
  limits: { ...DEFAULT_GATEWAY_LIMITS, hopLimit: 3 },
};
const opened = (create: () => Promise<Database>): void => {
  beforeEach(async () => {
    database = await create();
    heard = [];
    store = await database.open(parts);
  });
  afterEach(async () => {
    await store.close();
    await database.remove();
  });
};
const setting = (key: string) => ({ key, value: '1' });
const keys = async (): Promise<string[]> =>
  (await store.db.selectFrom('settings').select('key').orderBy('key').execute()).map(({ key }) => key);
const streamEvents = () =>
  store.db.selectFrom('stream_events').select(['stream', 'seq', 'payload']).orderBy('stream').orderBy('seq').execute();
const selectKeys = statement((db) => db.selectFrom('settings').select('key').orderBy('key'));
const findSetting = requireRow((db, { key }: Params<{ key: string }>) =>
  db.selectFrom('settings').select('key').where('key', '=', key),
);

describe.each([...databases, onSyncedSqlite, onPooledPostgres])('the contract of the store on $title', ({ create }) => {
  opened(create);

  const failures: Readonly<Record<string, (tx: Tx) => unknown>> = {
    'its work throws': () => Promise.reject(new Error('no')),
    'a statement that it waits for fails': (tx) => insertSetting(tx.db, setting('a')),
    'a statement that it sent fails': (tx) => tx.send(insertSetting, setting('a')),
    'its last work throws': (tx) => tx.beforeCommit(() => Promise.reject(new Error('no'))),
    'what tells a failure fails itself': (tx) =>
      tx.send(insertSetting, setting('a'), () => {
        throw new Error('no');
      }),
  };
  test.each(Object.entries(failures))('a transaction changes nothing when %s', async (_title, fail) => {
    const told: string[] = [];
    const failing = store.transaction(async (tx) => {
      tx.afterCommit(() => told.push('told'));
      tx.emit({ stream: 'space:1', type: 'said', payload: {} });
      tx.wake('thread');
      tx.send(insertSetting, setting('a'));
      await fail(tx);
      tx.send(insertSetting, setting('b'));
    });
    await expect(failing).rejects.toThrow();
    expect([await keys(), await streamEvents(), told, heard]).toEqual([[], [], [], []]);
  });

  test('a durable transaction resolves, whatever the listeners do', async () => {
    const warned = once(process, 'warning');
    const told: string[] = [];
    await store.transaction(async (tx) => {
      const sent = tx.send(insertSetting, setting('a'));
      tx.afterCommit(() => {
        throw new Error('told and failed');
      });
      tx.afterCommit(() => told.push(`${sent.rows.length}`));
    });
    expect([await keys(), told]).toEqual([['a'], ['0']]);
    expect(await warned).toMatchObject([{ message: 'told and failed' }]);
  });

  test('a value that cannot be sent is refused before anything is committed', async () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const failing = store.transaction(async (tx) => {
      tx.send(insertSetting, setting('a'));
      tx.send(insertSetting, { key: 'b', value: circular as never });
    });
    await expect(failing).rejects.toMatchObject({ code: 'store_misuse' });
    expect(await keys()).toEqual([]);
  });

  test('what a statement returned cannot be read before the transaction is durable', async () => {
    const reading = store.transaction(async (tx) => tx.send(insertSetting, setting('a')).rows);
    await expect(reading).rejects.toMatchObject({ code: 'store_misuse' });
    expect(await keys()).toEqual([]);
  });

  test('a compiled statement of the store itself is refused inside a transaction, and sees nothing of an active one', async () => {
    const misusing = store.transaction(() => selectKeys(store.db, {}));
    await expect(misusing).rejects.toMatchObject({ code: 'store_misuse' });
    const begun = Promise.withResolvers<void>();
    const reading = begun.promise.then(() => selectKeys(store.db, {}));
    await store.transaction(async (tx) => {
      tx.send(insertSetting, setting('b'));
      begun.resolve();
      await turnOfTheLoop();
      tx.send(insertSetting, setting('c'));
    });
    // It sees the state before the transaction or after it.
    expect([[], ['b', 'c']]).toContainEqual((await reading).map(({ key }) => key));
    expect((await selectKeys(store.db, {})).map(({ key }) => key)).toEqual(['b', 'c']);
  });

  test('a compiled statement that fails outside of transactions rejects, and the next one runs', async () => {
    await expect(findSetting(store.db, { key: 'a' })).rejects.toSatisfy(isRowMissing);
    await store.transaction((tx) => insertSetting(tx.db, setting('a')));
    expect(await selectKeys(store.db, {})).toMatchObject([{ key: 'a' }]);
  });

  test('the result of a statement is held back until the transaction is durable, however soon the database answers', async () => {
    await store.transaction((tx) => insertSetting(tx.db, setting('a')));
    const told: string[] = [];
    const reading = store.transaction(async (tx) => {
      const sent = tx.send(selectKeys, {});
      // At this point a database in this process has answered.
      await selectKeys(tx.db, {});
      tx.afterCommit(() => told.push(...sent.rows.map(({ key }) => key)));
      expect(() => sent.rows).toThrow(expect.objectContaining({ code: 'store_misuse' }));
    });
    await reading;
    expect(told).toEqual(['a']);
  });

  test('a statement that must find a row fails the transaction if there is none, and names the reason', async () => {
    const toError = (error: unknown): unknown => (isRowMissing(error) ? new Error('nobody there') : error);
    const requiring = (key: string): Promise<void> =>
      store.transaction(async (tx) => {
        tx.send(findSetting, { key }, toError);
        tx.send(insertSetting, setting(`behind ${key}`));
      });
    await store.transaction(async (tx) => void tx.send(insertSetting, setting('a')));
    await requiring('a');
    await expect(requiring('missing')).rejects.toThrow('nobody there');
    expect(await keys()).toEqual(['a', 'behind a']);
  });

  test('the events of a transaction are numbered within their streams at its end, and published after the commit; threads are woken then', async () => {
    await store.transaction(async (tx) => tx.emit({ stream: 'space:2', type: 'first', payload: {} }));
    heard.length = 0;
    await store.transaction(async (tx) => {
      tx.emit({ stream: 'space:2', type: 'second', payload: { text: 'Hi' } });
      tx.emit({ stream: 'space:1', type: 'other', json: '{}' });
      tx.wake('a');
      tx.emit({ stream: 'space:2', type: 'third', payload: {} });
      tx.wake('b', { isUrgent: true });
      const stored = tx.db.selectFrom('stream_events').select('type').where('type', '!=', 'first');
      expect(await stored.execute()).toEqual([]);
      expect(heard).toEqual([]);
    });
    expect(heard).toEqual(['a', 'b@urgent', 'space:1 1 other', 'space:2 2 second', 'space:2 3 third']);
    expect(await streamEvents()).toEqual([
      { stream: 'space:1', seq: 1, payload: '{}' },
      { stream: 'space:2', seq: 1, payload: '{}' },
      { stream: 'space:2', seq: 2, payload: '{"text":"Hi"}' },
      { stream: 'space:2', seq: 3, payload: '{}' },
    ]);
  });

  test('a transaction knows the limits of its gateway', async () => {
    expect(await store.transaction(async ({ limits }) => limits)).toEqual(parts.limits);
  });

  test('a store that was opened without a gateway stores events, wakes no thread and has the default limits', async () => {
    await store.close();
    store = await database.open();
    const limits = await store.transaction(async (tx) => {
      tx.emit({ stream: 'space:1', type: 'said', payload: {} });
      tx.wake('thread');
      return tx.limits;
    });
    expect(limits).toEqual(DEFAULT_GATEWAY_LIMITS);
    expect(await streamEvents()).toEqual([{ stream: 'space:1', seq: 1, payload: '{}' }]);
    expect(heard).toEqual([]);
  });

  test('a value of a statement is a parameter, and no code can branch on it', () => {
    interface Values {
      readonly key: string;
      readonly count: number | null;
    }
    // The types are the test: if one of these lines compiles, the directive above it is an error.
    const query = statement((db, params: Params<Values>) => {
      const rows = db.selectFrom('settings').select('key').where('key', '=', params.key);
      // @ts-expect-error It is not a text.
      if (params.key === 'a') return rows;
      // @ts-expect-error It is not a number.
      if (params.count > 1) return rows;
      // @ts-expect-error Only a query accepts it.
      Number.parseInt(params.key, 10);
      // @ts-expect-error It is always truthy, whatever the value will be.
      const limited = params.count ? rows.limit(1) : rows;
      // @ts-expect-error The same here.
      if (params.key) return limited;
      return rows;
    });
    expect(query).toBeTypeOf('function');
  });

  test('only compiled statements are sent without waiting for their answer', () => {
    const inserting = async (tx: Tx): Promise<void> => {
      // @ts-expect-error A promise may fail by itself when the commit is already sent.
      tx.send(insertSetting(tx.db, setting('a')));
      // @ts-expect-error So may a function.
      tx.send(async () => [], {});
      // @ts-expect-error A query that is built each time is not a compiled statement.
      tx.send(tx.db.selectFrom('settings').select('key'), {});
    };
    expect(inserting).toBeTypeOf('function');
  });
});

describe.each([onSqlite, onSyncedSqlite])('the contract of the store on $title', ({ create }) => {
  opened(create);

  test('where BEGIN fails nothing is written', async () => {
    const other = new DatabaseSync(join(database.location, 'lastcall.db'));
    other.exec('begin immediate');
    const failing = store.transaction(async (tx) => void tx.send(insertSetting, setting('a')));
    await expect(failing).rejects.toThrow('locked');
    other.exec('rollback');
    other.close();
    expect(await keys()).toEqual([]);
  });
});

describe.each([onPostgres, onPooledPostgres])('the contract of the store on $title', ({ create }) => {
  opened(create);
  let wire: TappedWire;
  let tapped: Store;
  beforeEach(async () => {
    wire = await tapWire(database.pooledUrl ?? database.location);
    const directUrl = database.pooledUrl === undefined ? undefined : database.location;
    tapped = await openPostgresStore({ url: wire.url, directUrl, connections: 1 });
  });
  afterEach(async () => {
    await tapped.close().catch(() => {});
    wire.close();
  });
  const write = (): Promise<void> =>
    tapped.transaction(async (tx) => {
      tx.send(insertSetting, setting('a'));
      await tx.db.insertInto('settings').values(setting('b')).execute();
      tx.send(insertSetting, setting('c'));
    });

  test('rows are locked in the order of the store, not in that of the arguments', async () => {
    const [first, second] = ['a', 'b'].map((id) => ({
      id,
      name: id,
      description: '',
      metadata: '{}',
      next_seq: 1,
      hops: 0,
      created_at: 0,
    })) as [SpaceRow, SpaceRow];
    await store.transaction(({ db }) => db.insertInto('spaces').values([first, second]).execute());
    const held = await holdLock(database, `select id from spaces where id = 'b' for update`);
    const locking = store.transaction((tx) => lockRows(tx, { spaces: ['b', 'a'] }));
    await held.waitedFor({ orDone: locking });
    // It has a and waits for b, so another transaction that locks both cannot have a and wait for b.
    const taking = held.query(`select id from spaces where id = 'a' for update nowait`);
    await expect(taking).rejects.toMatchObject({ code: LOCK_NOT_AVAILABLE });
    await held.release();
    await locking;
  });

  test('where BEGIN fails nothing is written', async () => {
    wire.tap('begin', 'spoil');
    await expect(write()).rejects.toThrow(/does not exist|syntax error/);
    expect(await keys()).toEqual([]);
    wire.tap('begin', 'pass');
    await write();
    expect(await keys()).toEqual(['a', 'b', 'c']);
  });

  test('where BEGIN fails nothing is written by work that continues after it', async () => {
    wire.tap('begin', 'spoil');
    const goingOn = tapped.transaction(async (tx) => {
      await selectKeys(tx.db, {}).catch(() => {});
      // At this point BEGIN is answered, and this would be sent without it.
      tx.send(insertSetting, setting('a'));
      await insertSetting(tx.db, setting('b')).catch(() => {});
    });
    await expect(goingOn).rejects.toThrow(/does not exist|syntax error/);
    expect(await keys()).toEqual([]);
    wire.tap('begin', 'pass');
  });

  test('a store whose database is away says so when it is opened', async () => {
    wire.close();
    await expect(openPostgresStore({ url: wire.url })).rejects.toMatchObject({ name: 'StoreUnavailable' });
  });

  test('a transaction whose connection breaks before the commit has changed nothing', async () => {
    wire.tap('commit', 'cut before');
    await expect(write()).rejects.toMatchObject({ name: 'StoreUnavailable' });
    expect(await keys()).toEqual([]);
  });

  test('a transaction whose commit is not answered says that it cannot know', async () => {
    wire.tap('commit', 'cut after');
    await expect(write()).rejects.toMatchObject({ name: 'StoreUnavailable', inDoubt: true });
    wire.tap('commit', 'pass');
  });

  test('a transaction whose commit is answered by a proxy that lost the server says that it cannot know', async () => {
    wire.tap('commit', 'lose server');
    const writing = tapped.transaction(async (tx) => void tx.send(insertSetting, setting('a')));
    await expect(writing).rejects.toMatchObject({ name: 'StoreUnavailable', inDoubt: true });
    expect(await keys()).toEqual(['a']);
    wire.tap('commit', 'pass');
  });

  test('a transaction whose connection breaks before its commit is sent is not in doubt', async () => {
    wire.tap('begin', 'cut before');
    const writing = tapped.transaction(async (tx) => {
      tx.send(insertSetting, setting('a'));
      // The statements so far have been sent, and the commit waits for their answer.
      await new Promise(process.nextTick);
    });
    await expect(writing).rejects.toMatchObject({ name: 'StoreUnavailable', inDoubt: false });
    wire.tap('begin', 'pass');
  });
});
