import { Client } from 'pg';
import { expect, test } from 'vitest';
import { reclaimPostgres } from '../../src/ports/store/postgres/postgres-reclaim.ts';
import { filesWith } from '../erasure/planted.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { onPostgres } from '../support/stores.ts';

const PLANTED = 'marmalade-4410-trombone';
const database = forEachTest(onPostgres.create);
const other = forEachTest(onPostgres.create);

interface Older {
  readonly of: string;
  readonly url: () => string;
  readonly begin: readonly string[];
}

const olders: readonly Older[] = [
  {
    of: 'a writer of another database',
    url: () => other.location,
    begin: ['begin', 'select pg_current_xact_id()'],
  },
  {
    of: 'a writer of the same database that rests between two statements',
    url: () => database.location,
    begin: ['begin', 'select pg_current_xact_id()'],
  },
  {
    of: 'a reader of the same database',
    url: () => database.location,
    begin: ['begin isolation level repeatable read', 'select 1'],
  },
];

test.each(olders)('[O3] a deleted row is gone from the files although $of was older', async ({ url, begin }) => {
  const [older, client] = [new Client(url()), new Client(database.location)];
  await Promise.all([older.connect(), client.connect()]);
  try {
    await client.query('create table planted (text text)');
    await client.query('insert into planted values ($1)', [PLANTED]);
    for (const statement of begin) await older.query(statement);
    await client.query('delete from planted');
    let waits = 0;
    await reclaimPostgres(database.location, ['planted'], async () => {
      if (++waits === 2) await older.query('commit');
    });
    expect(waits).toBeGreaterThan(2);
    expect(await filesWith(database, undefined, PLANTED)).toEqual([]);
  } finally {
    await Promise.all([older.end(), client.end()]);
  }
});

test('[O3] an older transaction that stays open is reported, and the deletion can be retried', async () => {
  const older = new Client(database.location);
  await older.connect();
  try {
    await older.query('create table planted (text text)');
    for (const statement of ['begin', 'select pg_current_xact_id()']) await older.query(statement);
    const reclaim = (options?: { readonly waitMs: number }) =>
      reclaimPostgres(database.location, ['planted'], undefined, options);
    await expect(reclaim({ waitMs: 400 })).rejects.toThrow(
      'A transaction that is older than the deletion is still open',
    );
    await older.query('commit');
    // Other tests have transactions on the same server.
    await reclaim();
  } finally {
    await older.end();
  }
});
