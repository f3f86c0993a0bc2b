import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkStore } from '../../src/ports/store/check-store.ts';
import { toOpenError } from '../../src/ports/store/postgres/postgres-open-error.ts';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../src/ports/store/sqlite/sqlite-store.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lastcall-foreign-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** Makes a database of another program. */
async function makeDatabase(statements: string): Promise<void> {
  const database = new DatabaseSync(join(home, 'lastcall.db'));
  database.exec(statements);
  database.close();
}

const MIGRATIONS = 'create table kysely_migration (name text primary key, timestamp text)';

const FOREIGN: readonly [what: string, make: () => Promise<unknown>, sentence: RegExp][] = [
  [
    'a text',
    () => writeFile(join(home, 'lastcall.db'), 'These are my notes.\n'.repeat(100)),
    /^"\S+lastcall\.db" is not a SQLite database\. Move it away, or set LASTCALL_HOME to another folder\.$/,
  ],
  [
    'a folder',
    () => mkdir(join(home, 'lastcall.db')),
    /^"\S+lastcall\.db" is not a file\. Move it away, or set LASTCALL_HOME to another folder\.$/,
  ],
  [
    'a database of another program',
    () => makeDatabase('create table songs (title text); insert into songs values (1)'),
    /^"\S+lastcall\.db" is a database of another program\. Move it away, or set LASTCALL_HOME to another folder\.$/,
  ],
  [
    'a database of another program in WAL mode',
    () => makeDatabase('pragma journal_mode = wal; create table songs (title text)'),
    /is a database of another program\./,
  ],
  [
    'a database of another program that has migrations by the same library',
    () => makeDatabase(`${MIGRATIONS}; insert into kysely_migration values ('001-songs', '2020')`),
    /is a database of another program\./,
  ],
  [
    'a database that was cut off',
    async () => {
      await makeDatabase('create table songs (title text); insert into songs values (zeroblob(100000))');
      const bytes = await readFile(join(home, 'lastcall.db'));
      await writeFile(join(home, 'lastcall.db'), bytes.fill(7, 100, 3_000));
    },
    /^"\S+lastcall\.db" cannot be read \(.*\)\. Restore a backup, or set LASTCALL_HOME to another folder\.$/,
  ],
];

describe('a lastcall.db that a gateway cannot use', () => {
  test.each(FOREIGN)(
    '[S18] %s is refused in one sentence with what to do, and is not changed',
    async (_what, make, sentence) => {
      await make();
      const before = await contents();
      const refused = { name: 'StoreRefused', message: expect.stringMatching(sentence) };
      await expect(openSqliteStore({ home })).rejects.toMatchObject(refused);
      expect(await contents()).toEqual(before);
      await expect(checkStore({ home, databaseUrl: undefined })).rejects.toMatchObject(refused);
      expect(await contents()).toEqual(before);
      // The lock was released.
      await rm(join(home, 'lastcall.db'), { recursive: true });
      await (await openSqliteStore({ home })).close();
    },
  );

  async function contents(): Promise<string> {
    const isFile = (await readdir(home, { withFileTypes: true })).find(({ name }) => name === 'lastcall.db')?.isFile();
    return isFile === true ? (await readFile(join(home, 'lastcall.db'))).toString('base64') : 'a folder';
  }

  test('an empty one is a new database', async () => {
    await writeFile(join(home, 'lastcall.db'), '');
    await (await openSqliteStore({ home })).close();
    await (await openSqliteStore({ home })).close();
    await expect(checkStore({ home, databaseUrl: undefined })).resolves.toBe('ok');
  });

  test('[S18] a newer version of Lastcall is named, and the lock is released', async () => {
    await (await openSqliteStore({ home })).close();
    await makeDatabase("insert into kysely_migration (name, timestamp) values ('9999-to-come', '2099-01-01')");
    for (let tries = 0; tries < 2; tries++)
      await expect(openSqliteStore({ home })).rejects.toThrow(/^A newer version of Lastcall has used this database/);
  });

  test.each([
    ['a text', () => writeFile(join(home, 'lock.db'), 'locked'), /lock\.db" is not a SQLite database\. Move it away/],
    ['a folder', () => mkdir(join(home, 'lock.db')), /lock\.db" is not a file\. Move it away/],
  ])('[S18] a lock.db that is %s does not count as the lock of another gateway', async (_what, make, sentence) => {
    await make();
    await expect(openSqliteStore({ home })).rejects.toThrow(sentence);
    await expect(checkStore({ home, databaseUrl: undefined })).rejects.toThrow(sentence);
  });
});

describe('a DATABASE_URL that leads to another program', () => {
  test.each([
    ['answers with HTTP', () => createServer((_request, response) => response.end('Hello')) as Server],
    ['closes each connection', () => createTcpServer((socket) => socket.end())],
    ['answers with noise', () => createTcpServer((socket) => void socket.end('220 mail.example.com ESMTP ready\r\n'))],
  ])('[S18] the error for one that %s says that it is not a PostgreSQL server', async (_how, make) => {
    const server = make();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `postgres://me:secret@127.0.0.1:${(server.address() as AddressInfo).port}/mine`;
    const opened = openPostgresStore({ url }).catch((error) => {
      throw toOpenError(error, url);
    });
    const refused = {
      name: 'StoreRefused',
      message: expect.stringMatching(
        /^(?!.*secret)PostgreSQL at 127\.0\.0\.1:\d+ does not answer \(.*\)\. Start it, or correct DATABASE_URL\.$/,
      ),
    };
    await expect(opened).rejects.toMatchObject(refused);
    await expect(checkStore({ home, databaseUrl: url })).rejects.toMatchObject(refused);
    server.close();
  });
});

test.each(['the database system is starting up', 'the database system is shutting down'])(
  'the error for a PostgreSQL server that says "%s" tells to wait for it',
  async (said) => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(refusal('57P03', said)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const at = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expect(checkStore({ home, databaseUrl: `postgres://me:secret@${at}/mine` })).rejects.toMatchObject({
      name: 'StoreRefused',
      message: `PostgreSQL at ${at} accepts no connections at the moment (${said}). Wait until it runs, then try again.`,
    });
    server.close();
  },
);

/** What a server sends instead of a connection. */
function refusal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
