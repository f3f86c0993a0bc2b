import { inspect } from 'node:util';
import { sql } from 'kysely';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkStore } from '../../src/ports/store/check-store.ts';
import { BatchingDriver } from '../../src/ports/store/postgres/postgres-driver.ts';
import { createMigrationPool, createPool } from '../../src/ports/store/postgres/postgres-pool.ts';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import type { GroupOptions, Tx } from '../../src/ports/store/store.ts';
import { StoreUnavailable } from '../../src/ports/store/store-error.ts';
import { startTestGateway, waitFor } from '../../src/testing/index.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { holdLock } from '../support/held-lock.ts';
import { runStatements } from '../support/run-statements.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { insertSetting } from '../support/settings.ts';
import { onPostgres } from '../support/stores.ts';

const KINDS: readonly (GroupOptions['kind'] | undefined)[] = [
  undefined,
  'claim',
  'post',
  undefined,
  'journal',
  'event',
];

test.each([1, 3, 5])(
  'a store that may open %i connections opens no more of them, and completes all work',
  async (connections) => {
    const database = await onPostgres.create();
    const url = new URL(database.location);
    url.searchParams.set('application_name', 'counted');
    const store = await openPostgresStore({ url: url.href, connections });
    const write = async (tx: Tx, key: string): Promise<void> => {
      tx.send(insertSetting, { key, value: '1' });
      // Long enough for a group to count as slow, so that the next one starts in parallel.
      await sql`select pg_sleep(0.03)`.execute(tx.db);
    };
    await Promise.all(
      Array.from({ length: 36 }, (_, index) => {
        const [key, kind] = [`key ${index}`, KINDS[index % KINDS.length]];
        return store.transaction((tx) => write(tx, key), kind === undefined ? {} : { group: { kind, keys: [key] } });
      }),
    );
    expect(await store.db.selectFrom('settings').select('key').execute()).toHaveLength(36);
    // They stay open for a while.
    const { rows } = await sql<{ count: number }>`
    select count(*) from pg_stat_activity where datname = current_database() and application_name = 'counted'`.execute(
      store.db,
    );
    expect(rows[0]?.count).toBeLessThanOrEqual(connections);
    await store.close();
    await database.remove();
  },
);

describe('what an administrator has set for the database', () => {
  const database = forEachTest(onPostgres.create);
  const set = (setting: string): Promise<void> =>
    runStatements(database, [
      `do $$ begin execute format('alter database %I set ${setting}', current_database()); end $$`,
    ]);

  test.each(['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])(
    '%s does not limit migrations of large tables',
    async (name) => {
      await set(`${name} = 1`);
      const pool = createMigrationPool(database.location);
      expect((await pool.query(`show ${name}`)).rows).toEqual([{ [name]: '0' }]);
      await pool.end();
    },
  );

  test('a stricter isolation level does not make transactions fail that change the same row', async () => {
    await set('default_transaction_isolation = serializable');
    const store = await database.open();
    await store.transaction(async (tx) => tx.send(insertSetting, { key: 'count', value: '0' }));
    let tries = 0;
    await Promise.all(
      Array.from({ length: 8 }, () =>
        store.transaction(async (tx) => {
          tries += 1;
          expect((await sql`show transaction_isolation`.execute(tx.db)).rows).toEqual([
            { transaction_isolation: 'read committed' },
          ]);
          await sql`update settings set value = (value::int + 1)::text where key = 'count'`.execute(tx.db);
        }),
      ),
    );
    const counted = store.db.selectFrom('settings').select('value').where('key', '=', 'count');
    expect(await counted.executeTakeFirstOrThrow()).toEqual({ value: '8' });
    expect(tries).toBe(8);
    await store.close();
  });
});

test.each(['LATIN1', 'SQL_ASCII'])('a database in %s is refused if it cannot store all texts', async (encoding) => {
  const database = await onPostgres.create();
  const url = new URL(database.location);
  url.pathname += `_${encoding.toLowerCase()}`;
  const name = url.pathname.slice(1);
  await runStatements(database, [
    `create database ${name} encoding '${encoding}' lc_collate 'C' lc_ctype 'C' template template0`,
  ]);
  const open = () => openPostgresStore({ url: url.href });
  const check = () => checkStore({ databaseUrl: url.href, home: '' });
  if (encoding === 'SQL_ASCII') {
    const store = await open();
    expect(await check()).toBe('ok');
    await store.transaction(async (tx) => tx.send(insertSetting, { key: 'text', value: '→ 🏨' }));
    const { value } = await store.db.selectFrom('settings').select('value').executeTakeFirstOrThrow();
    expect(value).toBe('→ 🏨');
    await store.close();
  } else {
    const refused = {
      name: 'StoreRefused',
      message: expect.stringMatching(new RegExp(`"${name}" has the encoding LATIN1, .* --encoding=UTF8`)),
    };
    await expect(open()).rejects.toMatchObject(refused);
    await expect(check()).rejects.toMatchObject(refused);
  }
  await runStatements(database, [`drop database ${name} with (force)`]);
  await database.remove();
});

describe('a server that has room for two connections of the gateway', () => {
  const database = forEachTest(onPostgres.create);
  const role = `crowded_${process.pid}`;
  const url = (): string => {
    const own = new URL(database.location);
    [own.username, own.password] = [role, 'secret'];
    return own.href;
  };
  beforeEach(() =>
    runStatements(database, [
      `create role ${role} login password 'secret' connection limit 2`,
      `grant pg_read_all_data, pg_write_all_data, pg_monitor to ${role}`,
    ]),
  );
  afterEach(() => runStatements(database, [`drop owned by ${role}`, `drop role ${role}`]));

  test('[G43] requests share the open connections, and none fails because no further one can be opened', async () => {
    const store = await openPostgresStore({ url: url() });
    const write = (_: unknown, index: number): Promise<void> =>
      store.transaction(async (tx) => {
        tx.send(insertSetting, { key: `key ${index}`, value: '1' });
        // As long as it runs, others ask for connections.
        await sql`select pg_sleep(0.02)`.execute(tx.db);
      });
    const read = (): Promise<unknown> => store.db.selectFrom('settings').select('key').execute();
    const ended = await Promise.allSettled([...Array.from({ length: 30 }, write), ...Array.from({ length: 30 }, read)]);
    expect(ended.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(await read()).toHaveLength(30);
    await store.close();
  });

  test('[G43] [S18] with other programs on all connections, requests and a start say that no more are accepted', async () => {
    const store = await openPostgresStore({ url: url() });
    const ping = (): Promise<unknown> => store.ping().catch((error: unknown) => error);
    // The connections of the store end, and others take their places.
    await runStatements(database, [`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`]);
    const others = [await connectOther(), await connectOther()];
    const refusal = await waitFor(async () => {
      const error = await ping();
      return error instanceof StoreUnavailable && error.message.includes('connections') && error;
    });
    expect(refusal.message).toBe('The database accepts no more connections. Nothing was changed; try again shortly.');
    await expect(checkStore({ databaseUrl: url(), home: '' })).rejects.toThrow(
      /accepts no more connections \(too many connections for role "crowded_\d+"\)\. A gateway opens 12: raise the limit/,
    );
    for (const other of others) await other.end();
    await waitFor(async () => !((await ping()) instanceof Error));
    await store.close();
  });

  test('[G43] with a password that was changed the gateway answers 503, not 500, logs why, and continues once it is right', async () => {
    const home = await scratchFolder('refused');
    await runStatements(database, [`alter role ${role} connection limit 30`]);
    const errors: string[] = [];
    const log = { debug() {}, info() {}, warn() {}, error: (...given: unknown[]) => void errors.push(inspect(given)) };
    await using gateway = await startTestGateway({ home, databaseUrl: url(), logger: log });
    await runStatements(database, [
      `alter role ${role} password 'another'`,
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`,
    ]);
    const refused = await waitFor(async () => {
      const response = await gateway.request('/api/agents');
      return response.status !== 200 && response;
    });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('2');
    // The first answers may be of connections that were just ended.
    await waitFor(async () => JSON.stringify(await gateway.api('/api/agents')).includes('accepts no more connections'));
    expect(errors.filter((line) => !line.includes('The database accepts no more connections'))).toEqual([]);
    expect(errors.join()).toContain('password authentication failed');
    await runStatements(database, [`alter role ${role} password 'secret'`]);
    await waitFor(async () => (await gateway.request('/api/agents')).status === 200);
  });

  /** What was ended a moment ago may still count. */
  const connectOther = (): Promise<Client> =>
    waitFor(async () => {
      const client = new Client({ connectionString: url() });
      return await client.connect().then(
        () => client,
        () => false as const,
      );
    });
});

test('[G43] a full disk of the server is named, and not taken for a database that does not answer', async () => {
  const database = await onPostgres.create();
  const store = await database.open();
  const full = store.transaction((tx) =>
    sql`do $$ begin raise exception using errcode = 'disk_full'; end $$`.execute(tx.db),
  );
  await expect(full).rejects.toThrow('The disk of the database is full. Nothing was changed; try again shortly.');
  await store.close();
  await database.remove();
});

test('a start that finds the tables up to date does not wait for another migration', async () => {
  const database = await onPostgres.create();
  await (await database.open()).close();
  const lock = await holdLock(database, 'lock table kysely_migration_lock in access exclusive mode');
  const store = await database.open();
  await store.ping();
  await store.close();
  await lock.release();
  await database.remove();
});

test('a transaction that is urgent gets the next connection before others that waited longer', async () => {
  const database = await onPostgres.create();
  const store = await openPostgresStore({ url: database.location, connections: 1 });
  const [began, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const order: string[] = [];
  const first = store.transaction(async () => {
    began.resolve();
    await mayEnd.promise;
  });
  await began.promise;
  const others = [
    store.transaction(async () => void order.push('first come')),
    store.transaction(async () => void order.push('urgent'), { isUrgent: true }),
  ];
  mayEnd.resolve();
  await Promise.all([first, ...others]);
  expect(order).toEqual(['urgent', 'first come']);
  await store.close();
  await database.remove();
});

test('a transaction of a store that was closed is refused as unavailable', async () => {
  const database = await onPostgres.create();
  const store = await openPostgresStore({ url: database.location });
  await store.close();
  await expect(store.transaction(async (tx) => tx.now())).rejects.toThrow(StoreUnavailable);
  await database.remove();
});

test('a connection that cannot be opened, because the file of a certificate is missing, takes no place', async () => {
  const driver = new BatchingDriver(createPool('postgres://localhost/none?sslrootcert=/missing.crt', 1));
  for (let tries = 0; tries < 2; tries++) await expect(driver.acquireConnection()).rejects.toThrow('/missing.crt');
  await driver.destroy();
});
