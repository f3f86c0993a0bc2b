import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { startTestGateway } from '@lastcall/gateway/testing';
import { Kysely, sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { kyselyOn, runOn } from '../../src/ports/store/kysely-on.ts';
import { runTransaction, type TransactionSource } from '../../src/ports/store/run-transaction.ts';
import type { Tables } from '../../src/ports/store/schema/tables.ts';
import { LogSync, openLog } from '../../src/ports/store/sqlite/log-sync.ts';
import { SqliteDriver, sqliteDialect } from '../../src/ports/store/sqlite/sqlite-driver.ts';
import { openSqliteStore } from '../../src/ports/store/sqlite/sqlite-store.ts';
import { SqliteTransactions } from '../../src/ports/store/sqlite/sqlite-transactions.ts';
import { type Params, statement } from '../../src/ports/store/statement.ts';
import type { Tx } from '../../src/ports/store/store.ts';
import { DEFAULT_PARTS } from '../../src/ports/store/store-parts.ts';

/** A database with one table, whose log is synced to the disk by `write`. */
function openWith(write: (folder: string) => Promise<void>, onLost?: (error: Error) => void) {
  const folder = scratch();
  const database = new DatabaseSync(join(folder, 'lastcall.db'));
  database.exec('pragma journal_mode = wal; pragma synchronous = normal');
  database.exec('create table settings (key text primary key, value text)');
  const driver = new SqliteDriver(database);
  const dialect = sqliteDialect(driver);
  const db = new Kysely<Tables>({ dialect });
  runOn(db, {
    executeQuery: (query) => driver.executeAlone(query),
    streamQuery: () => driver.connection.streamQuery(),
  });
  driver.log = new LogSync(database, { write: () => write(folder), onLost });
  const transactions = new SqliteTransactions(database, driver, kyselyOn(db, { dialect, driver }));
  const source: TransactionSource = {
    dialect: 'sqlite',
    now: Date.now,
    abortsOnError: false,
    parts: DEFAULT_PARTS,
    open: (options) => transactions.open(options),
  };
  onTestFinished(() => database.close());
  const transaction = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => runTransaction(source, work);
  return {
    db,
    log: driver.log,
    transaction,
    put: (key: string): Promise<unknown> => transaction((tx) => insert(tx, key)),
  };
}

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lastcall-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const insert = (tx: Tx, key: string): Promise<unknown> =>
  tx.db.insertInto('settings').values({ key, value: '1' }).execute();

/** Compiled statements and those that Kysely builds each time take different paths through the store. */
const compiledKeys = statement<object, { key: string }>((db) => db.selectFrom('settings').select('key').orderBy('key'));
const builtKeys = (db: Kysely<Tables>): Promise<{ key: string }[]> =>
  db.selectFrom('settings').select('key').orderBy('key').execute();

const compiledInsert = statement((db, { key }: Params<{ key: string }>) =>
  db.insertInto('settings').values({ key, value: '2' }),
);

/** Syncs that end when the test says so. */
function gatedSyncs() {
  const begun: PromiseWithResolvers<void>[] = [];
  return {
    begun,
    async write(): Promise<void> {
      const sync = Promise.withResolvers<void>();
      begun.push(sync);
      await sync.promise;
    },
  };
}

type State = 'pending' | 'resolved' | 'rejected';

/** The state of the promise when the process has nothing else to do. */
async function stateOf(promise: Promise<unknown>): Promise<State> {
  let state: State = 'pending';
  promise.then(
    () => {
      state = 'resolved';
    },
    () => {
      state = 'rejected';
    },
  );
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  return state;
}

type Disk = Readonly<Record<'lastcall.db' | 'lastcall.db-wal', Buffer>>;

/** The keys that a start after a power cut finds. */
function keysAfterPowerCut(disk: Disk | undefined): readonly unknown[] {
  if (disk === undefined) return [];
  const folder = scratch();
  for (const [name, bytes] of Object.entries(disk)) writeFileSync(join(folder, name), bytes);
  const database = new DatabaseSync(join(folder, 'lastcall.db'));
  const rows = database.prepare('select key from settings').all();
  database.close();
  return rows.map(({ key }) => key);
}

test('data that a transaction or a read has returned is still there after a power cut at any moment', async () => {
  let disk: Disk | undefined;
  const { db, put } = openWith(async (folder) => {
    // What is written while a sync runs may be missing.
    const read = (name: string): Buffer => readFileSync(join(folder, name));
    const image = { 'lastcall.db': read('lastcall.db'), 'lastcall.db-wal': read('lastcall.db-wal') };
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    disk = image;
  });
  let looks = 0;
  const writeAndCut = async (key: string): Promise<void> => {
    await put(key);
    expect(keysAfterPowerCut(disk)).toContain(key);
  };
  const readAndCut = async (): Promise<void> => {
    const seen = (await builtKeys(db)).map(({ key }) => key);
    expect(keysAfterPowerCut(disk)).toEqual(expect.arrayContaining(seen));
    looks += seen.length;
  };
  for (let round = 0; round < 8; round++) {
    const writes = [1, 2, 3].map((number) => writeAndCut(`${round}.${number}`));
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([...writes, readAndCut(), writeAndCut(`${round}.4`), readAndCut()]);
  }
  expect(looks).toBeGreaterThan(100);
});

test('a transaction resolves when its commit is on the disk, and the next one runs meanwhile', async () => {
  const { begun, write } = gatedSyncs();
  const { transaction, put } = openWith(write);
  const first = put('a');
  expect(await stateOf(first)).toBe('pending');
  const seen: number[] = [];
  const second = transaction(async (tx) => void seen.push((await builtKeys(tx.db)).length));
  expect(await stateOf(second)).toBe('pending');
  expect(seen).toEqual([1]);
  begun[0]?.resolve();
  await Promise.all([first, second]);
  // The second one wrote nothing.
  expect(begun).toHaveLength(1);
});

test('a transaction that fails because of data it read rejects when that data is on the disk', async () => {
  const { begun, write } = gatedSyncs();
  const { transaction, put } = openWith(write);
  const first = put('a');
  const refused = transaction(async (tx) => {
    const taken = await builtKeys(tx.db);
    throw new Error(`${taken.length} is taken`);
  });
  expect(await stateOf(refused)).toBe('pending');
  begun[0]?.resolve();
  await expect(refused).rejects.toThrow('1 is taken');
  await first;
});

test('a statement outside of a transaction is answered when the data it read is on the disk', async () => {
  const { begun, write } = gatedSyncs();
  const { db, put } = openWith(write);
  const first = put('a');
  await stateOf(first);
  const reads = [builtKeys(db), compiledKeys(db, {})];
  expect(await Promise.all(reads.map(stateOf))).toEqual(['pending', 'pending']);
  begun[0]?.resolve();
  expect(await Promise.all(reads)).toEqual([[{ key: 'a' }], [{ key: 'a' }]]);
  await first;
  // Nothing was written since, so a read does not wait.
  expect(await stateOf(compiledKeys(db, {}))).toBe('resolved');
  expect(begun).toHaveLength(1);
});

test('one sync runs at a time, and commits made meanwhile share the next one', async () => {
  const { begun, write } = gatedSyncs();
  const { put } = openWith(write);
  const first = put('a');
  await stateOf(first);
  const second = put('b');
  await stateOf(second);
  const third = put('c');
  await stateOf(third);
  expect(begun).toHaveLength(1);
  begun[0]?.resolve();
  await first;
  expect(await stateOf(Promise.race([second, third]))).toBe('pending');
  expect(begun).toHaveLength(2);
  begun[1]?.resolve();
  await Promise.all([second, third]);
  expect(begun).toHaveLength(2);
});

test('after a failed sync outcomes are unknown, and the store refuses everything until the next start', async () => {
  const { begun, write } = gatedSyncs();
  const lost: string[] = [];
  const { db, transaction, put } = openWith(write, ({ message }) => lost.push(message));
  const [first, second] = [put('a'), transaction((tx) => insert(tx, 'b'))];
  // It fails because of a row that may be gone.
  const third = transaction((tx) => insert(tx, 'a'));
  const fourth = db.insertInto('settings').values({ key: 'a', value: '2' }).execute();
  const fifth = compiledInsert(db, { key: 'a' });
  const callers = [first, second, third, fourth, fifth];
  expect(await Promise.all(callers.map(stateOf))).toEqual(callers.map(() => 'pending'));
  begun[0]?.reject(new Error('EIO'));
  const inDoubt = { code: 'store_unavailable', inDoubt: true, cause: { message: expect.stringContaining('The disk') } };
  for (const caller of callers) await expect(caller).rejects.toMatchObject(inDoubt);
  expect(lost).toEqual([expect.stringContaining('has to be started again')]);
  let ran = 0;
  const refused = { code: 'store_unavailable', inDoubt: false, message: lost[0] };
  await expect(transaction(async () => void ran++)).rejects.toMatchObject(refused);
  await expect(compiledKeys(db, {})).rejects.toMatchObject(refused);
  await expect(builtKeys(db)).rejects.toMatchObject(refused);
  expect(ran).toBe(0);
  // No second try: it could succeed without having written anything.
  expect(begun).toHaveLength(1);
});

test('the first read of a store waits for the sync of the existing log', async () => {
  const { begun, write } = gatedSyncs();
  const { db } = openWith(write);
  const read = builtKeys(db);
  expect(await stateOf(read)).toBe('pending');
  begun[0]?.resolve();
  expect(await read).toEqual([]);
});

test('closing the log answers waiting callers, and later callers get an unknown outcome', async () => {
  const { begun, write } = gatedSyncs();
  const lost: unknown[] = [];
  const { log, put } = openWith(write, (error) => lost.push(error));
  const first = put('a');
  await stateOf(first);
  const closing = log.close();
  const second = put('b');
  await stateOf(second);
  begun[0]?.resolve();
  await Promise.all([first, closing]);
  await expect(second).rejects.toMatchObject({ inDoubt: true, cause: { message: 'The store was closed.' } });
  await expect(put('c')).rejects.toMatchObject({ inDoubt: true });
  begun[1]?.reject(new Error('EBADF'));
  await stateOf(second);
  expect(lost).toEqual([]);
});

/** Watches real syncs of files. `fails` makes the next one fail, as a broken disk does. */
async function watchSyncs() {
  const some = await open(import.meta.filename);
  const datasync = vi.spyOn(Object.getPrototypeOf(some) as FileHandle, 'datasync');
  await some.close();
  onTestFinished(() => datasync.mockRestore());
  return {
    /** The inodes of the files that were synced since the last call. */
    async synced(): Promise<readonly number[]> {
      const files = datasync.mock.contexts as readonly FileHandle[];
      const inodes = await Promise.all(files.map(async (file) => (await file.stat()).ino));
      datasync.mockClear();
      return inodes;
    },
    failNext: () => void datasync.mockRejectedValueOnce(new Error('EIO: i/o error, fdatasync')),
  };
}

test('a store syncs its log after each commit with FULL, which is the default, and never with NORMAL', async () => {
  const { synced } = await watchSyncs();
  const syncsOf = async (synchronous?: 'FULL' | 'NORMAL'): Promise<boolean[]> => {
    const home = scratch();
    const store = await openSqliteStore({ home, ...(synchronous === undefined ? {} : { synchronous }) });
    const pragma = await sql<{ synchronous: number }>`pragma synchronous`.execute(store.db);
    expect(pragma.rows).toEqual([{ synchronous: 1 }]);
    await synced();
    for (const key of ['a', 'b', 'c']) await store.transaction((tx) => insert(tx, key));
    const syncs = await synced();
    const { ino } = statSync(join(home, 'lastcall.db-wal'));
    await store.close();
    return syncs.map((inode) => inode === ino);
  };
  expect(await syncsOf()).toEqual([true, true, true]);
  expect(await syncsOf('FULL')).toEqual([true, true, true]);
  expect(await syncsOf('NORMAL')).toEqual([]);
});

test('if SQLite cannot use a log, it syncs commits itself', async () => {
  // This locking mode has no shared memory, like some network drives, and a log needs it.
  const file = pathToFileURL(join(scratch(), 'lastcall.db'));
  file.search = '?vfs=unix-dotfile';
  const database = new DatabaseSync(file);
  onTestFinished(() => database.close());
  database.exec('pragma journal_mode = wal; pragma synchronous = normal');
  expect(await openLog(database, `${file.pathname}-wal`)).toBeUndefined();
  expect(database.prepare('pragma synchronous').get()).toEqual({ synchronous: 2 });
});

test('a store that was closed refuses reads and transactions, and the process continues', async () => {
  const store = await openSqliteStore({ home: scratch() });
  await store.close();
  await expect(compiledKeys(store.db, {})).rejects.toThrow();
  await expect(builtKeys(store.db)).rejects.toThrow();
  await expect(Promise.all([builtKeys(store.db), builtKeys(store.db)])).rejects.toThrow();
  await expect(store.transaction(async () => 1)).rejects.toThrow();
});

test('a start after a crash copies the log into the database before it answers', async () => {
  const [home, copy] = [scratch(), scratch()];
  const store = await openSqliteStore({ home });
  await store.transaction((tx) => insert(tx, 'a'));
  for (const name of ['lastcall.db', 'lastcall.db-wal']) copyFileSync(join(home, name), join(copy, name));
  await store.close();
  expect(statSync(join(copy, 'lastcall.db-wal')).size).toBeGreaterThan(0);
  const next = await openSqliteStore({ home: copy });
  const database = readFileSync(join(copy, 'lastcall.db'));
  await next.close();
  const alone = scratch();
  writeFileSync(join(alone, 'lastcall.db'), database);
  const found = new DatabaseSync(join(alone, 'lastcall.db'));
  expect(found.prepare('select key from settings where key = ?').all('a')).toHaveLength(1);
  found.close();
});

test('a gateway whose disk fails says so in its log, in its probes and to callers', async () => {
  const { failNext } = await watchSyncs();
  const lines: string[] = [];
  const ignore = (): void => {};
  const logger = { debug: ignore, info: ignore, warn: ignore, error: (message: string) => void lines.push(message) };
  await using gateway = await startTestGateway({ synchronous: 'FULL', logger, agents: [] });
  const answer = async (path: string, body?: object): Promise<object> => {
    const response = await gateway.request(path, body);
    return { status: response.status, ...((await response.json()) as object) };
  };
  failNext();
  expect(await answer('/api/spaces', { name: 'Desk' })).toMatchObject({
    status: 503,
    error: { message: expect.stringContaining('not known whether the change was made') },
  });
  const refused = {
    status: 503,
    error: { code: 'store_unavailable', message: expect.stringContaining('started again') },
  };
  for (const path of ['/api/spaces', '/health', '/ready']) expect(await answer(path)).toMatchObject(refused);
  expect(lines).toEqual(['The store is lost until the gateway is started again.']);
});
