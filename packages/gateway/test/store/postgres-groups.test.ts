// Transactions that share one transaction of PostgreSQL. One test for each clause of postgres-group.ts, then which transactions get into
// which group: postgres-groups.ts. Both are in src/ports/store/postgres.
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import { type Params, type Statement, statement } from '../../src/ports/store/statement.ts';
import type { GroupOptions, Store, Tx } from '../../src/ports/store/store.ts';
import { holdLock } from '../support/held-lock.ts';
import { insertSetting } from '../support/settings.ts';
import { type Database, onPostgres } from '../support/stores.ts';
import { tapWire } from '../support/tapped-wire.ts';

let database: Database;
let store: Store;
beforeEach(async () => {
  database = await onPostgres.create();
  store = await database.open();
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
  await database.remove();
});

const readSettings = async (): Promise<Record<string, string>> => {
  const rows = await store.db.selectFrom('settings').select(['key', 'value']).orderBy('key').execute();
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
};
const inGroup = <T>(key: string, work: (tx: Tx) => Promise<T>, kind: GroupOptions['kind'] = 'claim'): Promise<T> =>
  store.transaction(work, { group: { kind, keys: [key] } });
const put = (tx: Tx, key: string): unknown => tx.send(insertSetting, { key, value: '1' });
/** The number of the database's transaction. */
const numberOf = async (tx: Tx): Promise<number> => {
  const { rows } = await sql<{ number: number }>`select pg_current_xact_id()::text::bigint as number`.execute(tx.db);
  return rows[0]?.number ?? 0;
};
const readValue = statement(
  (db, { key }: Params<{ key: string }>) => db.selectFrom('settings').select('value').where('key', '=', key),
  { types: { key: 'text' } },
);
const append = statement(
  (db, { key, text }: Params<{ key: string; text: string }>) =>
    db
      .updateTable('settings')
      .set({ value: sql<string>`value || ${text}` })
      .where('key', '=', key)
      .returning('value'),
  { types: { key: 'text', text: 'text' }, key: 'key' },
);
/** Records which values are run together. */
const noting = (noted: string[][], isLast: boolean): Statement<{ key: string }, unknown> =>
  statement((_db, { key }: Params<{ key: string }>) => sql`select ${key}::text`, {
    key: 'key',
    isLast,
    toValues: (all) => ({ keys: all.map(({ key }) => key), noted: noted.push(all.map(({ key }) => key)) }),
    build: (_db, { keys }: Params<{ keys: readonly string[] }>) => sql`select unnest(${keys}::text[])`,
  });

test('members of a group are committed together, and resolve when all are durable', async () => {
  const gate = Promise.withResolvers<void>();
  const told: string[] = [];
  const numbers: number[] = [];
  const all = ['a', 'b', 'c'].map((key) =>
    inGroup(key, async (tx) => {
      put(tx, key);
      tx.afterCommit(() => told.push(key));
      numbers.push(await numberOf(tx));
      if (key === 'b') await gate.promise;
    }),
  );
  await expect.poll(() => numbers.length).toBe(3);
  expect(new Set(numbers).size).toBe(1);
  expect([await readSettings(), told]).toEqual([{}, []]);
  gate.resolve();
  await Promise.all(all);
  expect(await readSettings()).toEqual({ a: '1', b: '1', c: '1' });
  expect(told.toSorted()).toEqual(['a', 'b', 'c']);
});

const failures: Readonly<Record<string, (tx: Tx) => unknown>> = {
  'its work throws': () => Promise.reject(new Error('no')),
  'a statement that it waits for fails': (tx) => insertSetting(tx.db, { key: 'before', value: '2' }),
  'a statement that it sent fails': (tx) => put(tx, 'before'),
  'its last work throws': (tx) => tx.beforeCommit(() => Promise.reject(new Error('no'))),
};
test.each(Object.entries(failures))(
  'a member of a group fails alone when %s, and the others succeed',
  async (_title, fail) => {
    await store.transaction(async (tx) => void put(tx, 'before'));
    const ran: string[] = [];
    const told: string[] = [];
    const all = ['a', 'b', 'c'].map((key) =>
      inGroup(key, async (tx) => {
        ran.push(key);
        tx.afterCommit(() => told.push(key));
        put(tx, key);
        if (key === 'b') await fail(tx);
      }),
    );
    const settled = await Promise.allSettled(all);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await readSettings()).toEqual({ a: '1', before: '1', c: '1' });
    expect(told.toSorted()).toEqual(['a', 'c']);
    // Once in the group, and once alone.
    expect(ran.toSorted()).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
  },
);

test('a member of a group that has written nothing leaves without undoing the others', async () => {
  const ran: string[] = [];
  const all = ['a', 'b'].map((key) =>
    inGroup(key, async (tx) => {
      ran.push(key);
      if (key === 'a') put(tx, key);
      const read = await readValue(tx.db, { key });
      // It found no row to change.
      const changed = key === 'b' ? await append(tx.db, { key: 'missing', text: '!' }) : [];
      if (key === 'b') throw new Error(`no ${read.length} ${changed.length}`);
    }),
  );
  const settled = await Promise.allSettled(all);
  expect(settled).toMatchObject([{ status: 'fulfilled' }, { reason: { message: 'no 0 0' } }]);
  expect(ran.toSorted()).toEqual(['a', 'b', 'b']);
});

test('members of a group whose commit is unknown all say so, and do not run again', async () => {
  const wire = await tapWire(database.location);
  const onWire = await openPostgresStore({ url: wire.url });
  const ran: string[] = [];
  wire.tap('commit', 'cut after');
  const all = ['a', 'b'].map((key) =>
    onWire.transaction(
      async (tx) => {
        ran.push(key);
        put(tx, key);
      },
      { group: { kind: 'claim', keys: [key] } },
    ),
  );
  const settled = await Promise.allSettled(all);
  expect(settled).toMatchObject([{ reason: { inDoubt: true } }, { reason: { inDoubt: true } }]);
  expect(ran).toEqual(['a', 'b']);
  // In this case the commit was made.
  await expect.poll(readSettings).toEqual({ a: '1', b: '1' });
  await onWire.close();
  wire.close();
});

test('a statement for several members gives each its own rows', async () => {
  await store.transaction(async (tx) => {
    for (const key of ['a', 'b', 'd']) tx.send(insertSetting, { key, value: `of ${key}` });
  });
  const found = await Promise.all(
    ['d', 'c', 'b', 'a'].map((key) =>
      inGroup(key, async (tx) => [await readValue(tx.db, { key }), await append(tx.db, { key, text: `+${key}` })]),
    ),
  );
  const rows = (key: string): unknown => [[{ value: `of ${key}` }], [{ value: `of ${key}+${key}` }]];
  expect(found).toEqual([rows('d'), [[], []], rows('b'), rows('a')]);
});

test('members of a group that change the same row do so one after the other, each in its own order', async () => {
  await store.transaction(async (tx) => void tx.send(insertSetting, { key: 'shared', value: '' }));
  const ran: string[] = [];
  await Promise.all(
    ['a', 'b', 'c'].map((key) =>
      inGroup(key, async (tx) => {
        ran.push(key);
        for (const text of ['1', '2']) tx.send(append, { key: 'shared', text: `${key}${text} ` });
        expect(await readValue(tx.db, { key: 'shared' })).toEqual([{ value: expect.stringContaining(`${key}2`) }]);
      }),
    ),
  );
  // None of them had to run again alone.
  expect(ran).toEqual(['a', 'b', 'c']);
  const written = (await readSettings()).shared?.trim().split(' ') ?? [];
  expect(written.toSorted()).toEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'c2']);
  for (const key of ['a', 'b', 'c']) expect(written.indexOf(`${key}1`)).toBeLessThan(written.indexOf(`${key}2`));
});

test('a statement for several members handles rows in the order of their keys, and late statements with the commit', async () => {
  const [noted, last]: [string[][], string[][]] = [[], []];
  const [early, late] = [noting(noted, false), noting(last, true)];
  await Promise.all(
    ['c', 'a', 'b'].map((key) =>
      inGroup(key, async (tx) => {
        await early(tx.db, { key });
        // It sends one more query than the others.
        if (key === 'a') await readValue(tx.db, { key });
        tx.send(late, { key });
      }),
    ),
  );
  expect([noted, last]).toEqual([[['a', 'b', 'c']], [['a', 'b', 'c']]]);
});

test('a member of a group that queries after the late statements gets its result', async () => {
  const late = noting([], true);
  const all = ['a', 'b'].map((key) =>
    inGroup(key, async (tx) => {
      tx.send(late, { key });
      tx.beforeCommit(async () => void (await readValue(tx.db, { key })));
      return await numberOf(tx);
    }),
  );
  const [first, second] = await Promise.all(all);
  expect(first).toBe(second);
});

test('a member of a group that fails after the late statements rejects, and the others are committed', async () => {
  const late = noting([], true);
  const failing = inGroup('failing', async (tx) => {
    tx.send(late, { key: 'failing' });
    throw new Error('Failed by itself.');
  });
  const other = inGroup('other', async (tx) => void put(tx, 'other'));
  await expect(failing).rejects.toThrow('Failed by itself.');
  await other;
  expect(await readSettings()).toMatchObject({ other: '1' });
});

test('a transaction that locks another row than that of its key runs alone', async () => {
  const ran: string[] = [];
  const all = [
    inGroup('own', async (tx) => {
      ran.push('own');
      tx.runAlone('own');
      return await numberOf(tx);
    }),
    inGroup('other', async (tx) => {
      ran.push('other');
      tx.runAlone('own');
      return await numberOf(tx);
    }),
  ];
  const [own, other] = await Promise.all(all);
  expect(own).not.toBe(other);
  expect(ran).toEqual(['own', 'other', 'other']);
});

test('a transaction may lock every row that its keys name, and two with a key in common are never in one group', async () => {
  const post = (...keys: string[]): Promise<number> =>
    store.transaction(
      async (tx) => {
        for (const key of keys) tx.runAlone(key);
        return await numberOf(tx);
      },
      { group: { kind: 'reply', keys } },
    );
  const [first, second, other] = await Promise.all([post('a', 'space'), post('b', 'space'), post('c', 'other space')]);
  expect(other).toBe(first);
  expect(second).not.toBe(first);
});

test('transactions with the same turn run one after another, and one inside of another is refused instead of waiting for itself', async () => {
  const turn = 'space';
  const steps: string[] = [];
  const inTurn = (key: string, work: () => Promise<unknown>): Promise<unknown> =>
    store.transaction(
      async (tx) => {
        steps.push(`${key} begins`);
        await work();
        await numberOf(tx);
        steps.push(`${key} ends`);
      },
      { group: { kind: 'post', keys: [key], turn } },
    );
  await Promise.all(['a', 'b'].map((key) => inTurn(key, async () => {})));
  expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  await expect(inTurn('outer', () => inTurn('inner', async () => {}))).rejects.toThrow('inside a transaction');
  // The turn is free again.
  await inTurn('c', async () => {});
  expect(steps.at(-1)).toBe('c ends');
});

test('transactions that wait form groups of twenty-four, and two with the same key are never in one', async () => {
  const keys = ['key 0', ...Array.from({ length: 50 }, (_, index) => `key ${index}`)];
  const numbers = await Promise.all(keys.map((key) => inGroup(key, numberOf)));
  const sizes = [...Map.groupBy(numbers, (number) => number).values()].map((members) => members.length);
  expect(sizes).toEqual([24, 24, 3]);
  expect(numbers[1]).not.toBe(numbers[0]);
});

test('a second group starts in parallel with a quick one when twelve transactions wait, and not before', async () => {
  const gate = Promise.withResolvers<void>();
  const went: string[] = [];
  const go = (key: string): Promise<number> =>
    inGroup(key, async (tx) => {
      went.push(key);
      const number = await numberOf(tx);
      if (key === 'first') await gate.promise;
      return number;
    });
  // The first group takes so long that a second one starts. So both connections of these groups are open afterwards.
  const [inside, beside] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = inGroup('slow', async () => {
    inside.resolve();
    await beside.promise;
  });
  await inside.promise;
  await inGroup('beside', async () => beside.resolve());
  await slow;
  // The clock is stopped, because a group that takes long also starts the next one.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const first = go('first');
  while (went.length === 0) await new Promise(setImmediate);
  const waiting = Array.from({ length: 11 }, (_, index) => go(`${index}`));
  for (let reads = 0; reads < 10; reads++) await readSettings();
  try {
    expect(went).toEqual(['first']);
    waiting.push(go('11'));
    const second = await Promise.all(waiting);
    expect(new Set(second).size).toBe(1);
    gate.resolve();
    expect(second).not.toContain(await first);
  } finally {
    gate.resolve();
  }
});

test.each(['hang', 'refuse'] as const)(
  'a second group that gets no connection leaves its members to the first one: new connections %s',
  async (how) => {
    const wire = await tapWire(database.location);
    const onWire = await openPostgresStore({ url: wire.url });
    const gate = Promise.withResolvers<void>();
    const inside = Promise.withResolvers<void>();
    const go = (key: string): Promise<number> =>
      onWire.transaction(
        async (tx) => {
          const number = await numberOf(tx);
          if (key === 'first') {
            inside.resolve();
            await gate.promise;
          }
          return number;
        },
        { group: { kind: 'claim', keys: [key] } },
      );
    // A group that takes long counts as slow. Here it must not while it connects, and not while the other one is refused.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const first = go('first');
    await inside.promise;
    if (how === 'hang') vi.useRealTimers();
    const isTried = wire.stopConnecting(how);
    const others = Array.from({ length: 30 }, (_, index) => go(`${index}`));
    await isTried;
    for (let reads = 0; reads < 10; reads++) await readSettings();
    gate.resolve();
    await first;
    // They were in two groups, so none of them ran alone.
    expect(new Set(await Promise.all(others)).size).toBe(2);
    vi.useRealTimers();
    wire.close();
    await onWire.close();
  },
);

test('many transactions wait for the only connection of groups', async () => {
  const small = await openPostgresStore({ url: database.location, connections: 2 });
  const go = (key: string, kind: 'claim' | 'event'): Promise<number> =>
    small.transaction(numberOf, { group: { kind, keys: [key] } });
  const all = Array.from({ length: 60 }, (_, index) => go(`${index}`, index % 2 === 0 ? 'claim' : 'event'));
  expect(new Set(await Promise.all(all)).size).toBe(4);
  await small.close();
});

test('an urgent transaction is in the next group of its kind, ahead of those that have waited longer', async () => {
  const went: string[] = [];
  const go = (kind: 'claim' | 'journal', key: string): Promise<number> =>
    store.transaction(
      async (tx) => {
        went.push(key);
        return await numberOf(tx);
      },
      { group: { kind, keys: [key], isFirst: key.startsWith('first') } },
    );
  const claims = Array.from({ length: 24 }, (_, index) => go('claim', `${index}`));
  const [one, other, journal] = await Promise.all([
    go('claim', 'first one'),
    go('claim', 'first other'),
    go('journal', 'journal'),
  ]);
  const numbers = await Promise.all(claims);
  // With them are 22 of those that came before, and a run that has begun goes ahead of all of them.
  expect(numbers.filter((number) => number === one)).toHaveLength(22);
  expect(other).toBe(one);
  expect(journal).not.toBe(one);
  expect(went.slice(0, 4)).toEqual(['journal', 'first one', 'first other', '0']);
});

test('a run that has begun goes ahead of one that begins', async () => {
  const went: string[] = [];
  const go = (kind: 'claim' | 'journal', key: string): Promise<void> =>
    inGroup(key, async () => void went.push(`${kind} ${key}`), kind);
  await Promise.all([go('claim', 'a'), go('claim', 'b'), go('journal', 'c'), go('journal', 'd')]);
  expect(went).toEqual(['journal c', 'journal d', 'claim a', 'claim b']);
});

test('messages and events take turns, and share no group', async () => {
  const went: string[] = [];
  const go = (kind: 'post' | 'event', key: string): Promise<number> =>
    inGroup(
      key,
      async (tx) => {
        went.push(`${kind} ${key}`);
        return await numberOf(tx);
      },
      kind,
    );
  const [a, b, c, d] = await Promise.all([go('post', 'a'), go('event', 'b'), go('event', 'c'), go('post', 'd')]);
  expect(went).toEqual(['post a', 'post d', 'event b', 'event c']);
  expect(a).toBe(d);
  expect(b).toBe(c);
  expect(a).not.toBe(b);
  // The longest waiting one decides which kind is next.
  went.length = 0;
  const posts = Array.from({ length: 25 }, (_, index) => go('post', `p${index}`));
  const event = go('event', 'e');
  const late = Array.from({ length: 25 }, (_, index) => go('post', `q${index}`));
  await Promise.all([...posts, event, ...late]);
  expect(went.indexOf('event e')).toBeLessThan(went.indexOf('post q24'));
});

test('a group that takes long does not delay the next one', async () => {
  const gate = Promise.withResolvers<void>();
  const inside = Promise.withResolvers<void>();
  const slow = inGroup('slow', async (tx) => {
    inside.resolve();
    await gate.promise;
    put(tx, 'slow');
  });
  await inside.promise;
  await inGroup('next', async (tx) => void put(tx, 'next'));
  expect(await readSettings()).toEqual({ next: '1' });
  gate.resolve();
  await slow;
  expect(await readSettings()).toEqual({ next: '1', slow: '1' });
});

test('a group that waits for a lock delays neither the next one nor its own other members', async () => {
  await store.transaction(async (tx) => void tx.send(insertSetting, { key: 'locked', value: '' }));
  const lock = await holdLock(database, `select key from settings where key = 'locked' for update`);
  const waiting = inGroup('waits', async (tx) => void tx.send(append, { key: 'locked', text: '!' }));
  const beside = inGroup('beside', async (tx) => void put(tx, 'beside'));
  await lock.waitedFor();
  await inGroup('later', async (tx) => void put(tx, 'later'));
  await beside;
  expect(await readSettings()).toEqual({ beside: '1', later: '1', locked: '' });
  await lock.release();
  await waiting;
  expect(await readSettings()).toMatchObject({ locked: '!' });
});

test('the connections of groups stop waiting for a lock soon, and look rows up by their keys however small the tables are', async () => {
  const names = ['lock_timeout', 'enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'plan_cache_mode'];
  const settingsOf = async ({ db }: Tx): Promise<unknown> => {
    const { rows } =
      await sql`select ${sql.join(names.map((name) => sql`current_setting(${name}) as ${sql.id(name)}`))}`.execute(db);
    return rows[0];
  };
  const alone = {
    lock_timeout: '5s',
    ...{ enable_seqscan: 'on', enable_hashjoin: 'on', enable_mergejoin: 'on' },
    plan_cache_mode: 'force_generic_plan',
  };
  const grouped = { lock_timeout: '200ms', enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' };
  expect(await store.transaction(settingsOf)).toEqual(alone);
  expect(await inGroup('a', settingsOf)).toEqual({ ...alone, ...grouped });
  // The purpose of the settings: no table is read as a whole, although that is cheapest with one row.
  await store.transaction(async (tx) => {
    put(tx, 'a');
    await sql`analyze settings`.execute(tx.db);
  });
  const planOf = async ({ db }: Tx): Promise<string> =>
    JSON.stringify((await sql`explain select value from settings where key = 'a'`.execute(db)).rows);
  expect(await store.transaction(planOf)).toContain('Seq Scan');
  expect(await inGroup('a', planOf)).toContain('Index Scan');
});

test('values of a list are returned unchanged, whatever they contain', async () => {
  const texts = [
    '',
    'NULL',
    'plain',
    'a "quote"',
    '"',
    '\\',
    '\\"',
    '{a,b}',
    ' ,',
    "it's",
    '{"json":"a \\"b\\" \\\\ c"}',
    '→ 🙂 "quoted"',
    'a line\nand "another\\"',
    ...Array.from({ length: 31 }, (_, index) => `${String.fromCharCode(index + 1)}"`),
    '\u007f \u2028 \ufeff',
  ];
  const { rows } = await sql<{ text: string | null; number: number; flag: boolean }>`
    select * from unnest(${[...texts, null]}::text[], ${[...texts.keys(), -1]}::bigint[], ${[...texts.map(() => true), false]}::boolean[])
      as given(text, number, flag)`.execute(store.db);
  expect(rows).toEqual([
    ...texts.map((text, number) => ({ text, number, flag: true })),
    { text: null, number: -1, flag: false },
  ]);
});
