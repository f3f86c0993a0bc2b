import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StreamNotice } from '../../src/ports/bus/bus.ts';
import { createPostgresBus } from '../../src/ports/bus/postgres-bus.ts';
import { checkStore } from '../../src/ports/store/check-store.ts';
import { poolerModeOf } from '../../src/ports/store/postgres/postgres-pooler.ts';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import type { GroupOptions, Store } from '../../src/ports/store/store.ts';
import { eventOf } from '../bus/notices.ts';
import { onPooledPostgres } from '../support/pooled-postgres.ts';
import { startPooler, throughPooler } from '../support/pooler.ts';
import { insertSetting } from '../support/settings.ts';
import { type Database, onPostgres } from '../support/stores.ts';

let database: Database;
let store: Store;
beforeAll(async () => {
  database = await onPooledPostgres.create();
  store = await database.open();
});
afterAll(async () => {
  await store.close();
  await database.remove();
});

interface SettingsOfBackend {
  readonly pid: number;
  readonly lock_timeout: string;
  readonly idle: string;
  readonly seqscan: string;
}
const SETTINGS = sql<SettingsOfBackend>`select pg_backend_pid() as pid, current_setting('lock_timeout') as lock_timeout,
  current_setting('idle_in_transaction_session_timeout') as idle, current_setting('enable_seqscan') as seqscan`;

test('the kind of connection to the server is detected: direct, a pooler in session mode, or one in transaction mode', async () => {
  await using sessions = await startPooler(database.location, { mode: 'session', connections: 50 });
  expect(await poolerModeOf(database.location)).toBe('none');
  expect(await poolerModeOf(throughPooler(database.location, sessions))).toBe('session');
  expect(await poolerModeOf(database.pooledUrl ?? '')).toBe('transaction');
});

test('a pooler with a single connection to the server is detected too', async () => {
  await using single = await startPooler(database.location, { connections: 1 });
  expect(await poolerModeOf(throughPooler(database.location, single))).toBe('transaction');
});

test('the check of a store names the missing direct URL', async () => {
  const databaseUrl = database.pooledUrl;
  await expect(checkStore({ databaseUrl, home: '' })).rejects.toThrow('Set DATABASE_DIRECT_URL');
  expect(await checkStore({ databaseUrl, databaseDirectUrl: database.location, home: '' })).toBe('ok');
});

test.each([
  [undefined, { lock_timeout: '5s', idle: '2500ms', seqscan: 'on' }],
  ['post', { lock_timeout: '200ms', idle: '2500ms', seqscan: 'off' }],
] satisfies [GroupOptions['kind'] | undefined, object][])(
  'behind a pooler each transaction sets its settings (group: %s), and leaves none for other clients',
  async (kind, expected) => {
    const options = kind === undefined ? {} : { group: { kind, keys: ['a'] } };
    const pids = new Set<number>();
    for (let count = 0; count < 6; count++) {
      const { rows } = await store.transaction((tx) => SETTINGS.execute(tx.db), options);
      expect(rows).toMatchObject([expected]);
      pids.add(rows[0]?.pid ?? 0);
      await store.db.selectFrom('settings').select('key').execute();
    }
    expect(await leftBehind()).toEqual([
      { lock_timeout: '0', idle: '0', seqscan: 'on', read_only: 'off', prepared: '0' },
    ]);
  },
);

test('behind a pooler a write outside of a transaction is refused, and the next client of the connection may write', async () => {
  const writing = insertSetting(store.db, { key: 'outside', value: '1' });
  await expect(writing).rejects.toMatchObject({ code: '25006' });
  await store.transaction(async (tx) => void tx.send(insertSetting, { key: 'inside', value: '1' }));
  const { rows } = await sql<{ key: string }>`select key from settings where key like '%side'`.execute(store.db);
  expect(rows).toEqual([{ key: 'inside' }]);
});

test('behind a pooler in session mode the store and the bus work as without one', async () => {
  await using sessions = await startPooler(database.location, { mode: 'session', connections: 50 });
  const url = throughPooler(database.location, sessions);
  const own = await openPostgresStore({ url, connections: 2 });
  const { rows } = await own.transaction((tx) => SETTINGS.execute(tx.db));
  expect(rows).toMatchObject([{ lock_timeout: '5s', idle: '2500ms' }]);
  await expect(insertSetting(own.db, { key: 'x', value: '1' })).rejects.toMatchObject({ code: '25006' });
  await own.close();
  const [one, other] = [createPostgresBus({ url }), createPostgresBus({ url })];
  await Promise.all([one.start(), other.start()]);
  const heard = Promise.withResolvers<StreamNotice>();
  other.subscribe('space:1', heard.resolve);
  one.publish([eventOf('space:1', 1)]);
  expect(await heard.promise).toMatchObject({ stream: 'space:1', seq: 1 });
  await Promise.all([one.stop(), other.stop()]);
});

test('a direct URL that leads to another database is refused, because no notification would ever arrive', async () => {
  const other = await onPostgres.create();
  const bus = createPostgresBus({ url: database.pooledUrl ?? '', directUrl: other.location });
  await expect(bus.start()).rejects.toThrow('Both must lead to the same database of the same server.');
  await other.remove();
});

/** The settings of the server's sessions as other clients of the pooler get them: one if all are equal, or each that differs. */
async function leftBehind(): Promise<object[]> {
  const clients = Array.from({ length: 4 }, () => new Client({ connectionString: database.pooledUrl }));
  const found = new Map<string, object>();
  for (const client of clients) {
    await client.connect();
    // An open transaction keeps its connection, so the next client gets another one.
    await client.query('begin');
    const { rows } = await client.query<object>(
      `select current_setting('lock_timeout') as lock_timeout,
         current_setting('idle_in_transaction_session_timeout') as idle, current_setting('enable_seqscan') as seqscan,
         current_setting('default_transaction_read_only') as read_only,
         (select count(*) from pg_prepared_statements) as prepared`,
    );
    for (const row of rows) found.set(JSON.stringify(row), row);
  }
  for (const client of clients) await client.end();
  return [...found.values()];
}
