import { DatabaseSync } from 'node:sqlite';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { fullAtStart } from '../../src/ports/store/sqlite/sqlite-error.ts';
import { openSqliteStore } from '../../src/ports/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { errorAnswer } from '../../src/transport/http/error-answer.ts';
import { lobby } from '../support/lobby.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { openWorld } from '../support/world.ts';

/** SQLite then finds no room for another page, as on a full disk. */
async function fill(store: Store): Promise<void> {
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(store.db);
  await sql`pragma max_page_count = ${sql.lit(rows[0]?.page_count ?? 0)}`.execute(store.db);
}

const makeRoom = (store: Store): Promise<unknown> => sql`pragma max_page_count = 1000000`.execute(store.db);

test('[G43] a call whose result finds no room on the disk waits with it, and runs once', async () => {
  const home = await scratchFolder('full-disk');
  const full = Promise.withResolvers<void>();
  const database = {
    kind: 'sqlite',
    location: home,
    open: (parts) => openSqliteStore({ home, synchronous: 'NORMAL', onFull: () => full.resolve() }, parts),
    remove: async () => {},
  } satisfies Parameters<typeof openWorld>[0]['database'];
  let paid = 0;
  const pay = tool({
    description: 'Pays.',
    inputSchema: { type: 'object' },
    async execute() {
      paid += 1;
      await fill(world.store);
      return 'Paid. '.repeat(20_000);
    },
  });
  const world = await openWorld({
    database,
    tools: { pay },
    models: { default: scriptedModel([[{ toolName: 'pay', input: {} }], 'Done.']) },
  });
  onTestFinished(() => world.stop());
  const { ada, space } = await lobby(world, { tools: ['pay'] });
  await world.start();

  await world.say(space, ada, 'Pay.');
  await full.promise;
  await makeRoom(world.store);
  await world.idle();

  const [run] = await world.store.db.selectFrom('runs').select(['status', 'attempt']).execute();
  const [call] = await world.store.db.selectFrom('calls').select('outcome_status').execute();
  expect({ paid, run: run?.status, call: call?.outcome_status }).toEqual({ paid: 1, run: 'completed', call: 'ok' });
});

test('[G43] a request that finds no room on the disk is answered with 503, and so are those that are committed with it', async () => {
  const home = await scratchFolder('full-disk');
  const told: unknown[] = [];
  const store = await openSqliteStore({ home, onFull: (error) => told.push(error) });
  onTestFinished(() => store.close());
  const put = (key: string, value: string): Promise<unknown> =>
    store.transaction((tx) => tx.db.insertInto('settings').values({ key, value }).execute());
  await fill(store);

  const settled = await Promise.allSettled(
    ['a', 'b', 'big'].map((key) => put(key, key === 'big' ? 'x'.repeat(1_000_000) : '1')),
  );

  const refused = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  const answers = refused.map((error) => errorAnswer(error, { requestId: '1', logger: console }));
  expect(refused.length).toBeGreaterThan(0);
  expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
    refused.map(() => [503, '2']),
  );
  expect(await answers[0]?.json()).toEqual({
    error: {
      code: 'store_unavailable',
      message: 'The disk of the database is full. Nothing was changed; try again shortly.',
    },
  });
  // The log is told once, not with each of many attempts.
  expect(told).toHaveLength(1);
});

test('[S18] a start that finds no room on the disk says so, and not that another gateway uses the folder', () => {
  const database = new DatabaseSync(':memory:');
  database.exec('create table texts (text); pragma max_page_count = 2');
  let error: unknown;
  try {
    database.prepare('insert into texts values (?)').run('x'.repeat(100_000));
  } catch (refused) {
    error = refused;
  }
  expect(fullAtStart('data', error)?.message).toBe(
    'The disk of the folder "data" is full. Make room, or set LASTCALL_HOME to a folder on another disk.',
  );
  expect(fullAtStart('data', new Error('Something else.'))).toBeUndefined();
});
