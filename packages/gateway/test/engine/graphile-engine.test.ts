import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Engine } from '../../src/ports/engine/engine.ts';
import { createGraphileEngine } from '../../src/ports/engine/graphile-engine.ts';
import { openPostgresStore } from '../../src/ports/store/postgres-store.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { recordWakes } from './wakes.ts';

let server: PostgresServer;
let url: string;
let store: Store;
const engines: Engine[] = [];
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());
beforeEach(async () => {
  url = await server.createDatabase();
  store = await openPostgresStore({ url });
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
  await store.close();
});

async function createEngine(): Promise<Engine> {
  const engine = await createGraphileEngine({ url });
  engines.push(engine);
  return engine;
}

const enqueue = (engine: Engine, threadId: string) => store.transaction((tx) => engine.enqueue(tx, threadId));

/** Connections die also without a restart. */
async function killConnections(): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await client.end();
}

/** While the database is away its users are told so, and try again. */
async function untilDone(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'store_unavailable') throw error;
    }
  }
}

test('two engines that start at once on a new database both work', async () => {
  const [one, other] = await Promise.all([createEngine(), createEngine()]);
  const wakes = recordWakes();
  await Promise.all([one.start(wakes.wake), other.start(wakes.wake)]);
  await enqueue(one, 'a');
  await enqueue(other, 'b');
  await Promise.all([wakes.of('a'), wakes.of('b')]);
});

test('[G9] a wake is not lost to a worker that takes the job of its thread in the same moment', async () => {
  const engine = await createEngine();
  await enqueue(engine, 'a');
  const worker = new Client({ connectionString: url });
  await worker.connect();
  const jobs = 'graphile_worker._private_jobs';
  await worker.query('begin');
  await worker.query(`update ${jobs} set locked_at = now(), locked_by = 'worker'`);
  const enqueued = enqueue(engine, 'a');
  const blocked = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  while ((await worker.query(blocked)).rowCount === 0);
  await worker.query('commit');
  await enqueued;
  // The one that was taken, and one for what the taker may not have seen.
  expect((await worker.query(`select 1 from ${jobs}`)).rowCount).toBe(2);
  await worker.end();
});

test('of two engines each wake goes to one, and after the stop of one to the other', async () => {
  const [one, other] = [await createEngine(), await createEngine()];
  const wakes = recordWakes();
  const by = { one: 0, other: 0 };
  await one.start(async (threadId) => {
    by.one++;
    await wakes.wake(threadId);
  });
  await other.start(async (threadId) => {
    by.other++;
    await wakes.wake(threadId);
  });
  const threads = Array.from({ length: 40 }, (_, index) => `thread ${index}`);
  await Promise.all(threads.map((thread) => enqueue(one, thread)));
  await Promise.all(threads.map((thread) => wakes.of(thread)));
  expect(wakes.threads.toSorted()).toEqual(threads.toSorted());
  await one.stop();
  const before = by.one;
  await enqueue(one, 'after');
  await wakes.of('after');
  expect(by.one).toBe(before);
});

test('[G56] a wake that is waited for is not behind a thousand others', async () => {
  const [asked, other] = [await createEngine(), await createEngine()];
  await store.transaction(async (tx) => {
    for (let index = 0; index < 1_000; index++) await asked.enqueue(tx, `thread ${index}`);
  });
  await store.transaction((tx) => asked.enqueue(tx, 'waited for', 'urgent'));
  const wakes = recordWakes();
  // Another than the one that was asked, which would wake it by itself.
  await other.start(wakes.wake);
  await wakes.of('waited for');
  expect(wakes.threads.length).toBeLessThan(100);
  await other.stop();
});

test('[G42] a wake that a stopped engine had not finished goes to another', async () => {
  const [one, other] = [await createEngine(), await createEngine()];
  const stuck = recordWakes();
  stuck.hold('a');
  await one.start(stuck.wake);
  await enqueue(one, 'a');
  await stuck.of('a');
  await one.stop();
  const wakes = recordWakes();
  await other.start(wakes.wake);
  await wakes.of('a');
});

test('[G43] wakes go on after the database was restarted', async () => {
  const engine = await createEngine();
  const wakes = recordWakes();
  await engine.start(wakes.wake);
  await enqueue(engine, 'before');
  await wakes.of('before');
  await server.restart();
  await untilDone(() => enqueue(engine, 'after'));
  await wakes.of('after');
});

test('[G43] wakes go on after the database went away while one was under way', async () => {
  const engine = await createEngine();
  const wakes = recordWakes();
  const held = wakes.hold('during');
  await engine.start(wakes.wake);
  await enqueue(engine, 'during');
  await held.begun;
  const restarted = server.restart();
  // Now the worker wants to say that the job is done, and cannot.
  held.release();
  await restarted;
  await untilDone(() => enqueue(engine, 'after'));
  await wakes.of('after');
  await untilDone(() => enqueue(engine, 'during'));
  await wakes.of('during', 2);
});

test('[G43] wakes go on after every connection was cut', { timeout: 240_000 }, async () => {
  const engine = await createEngine();
  const wakes = recordWakes();
  await engine.start(wakes.wake);
  for (const threadId of ['a', 'b', 'c']) {
    await killConnections();
    const isWoken = async (): Promise<boolean> => {
      // A job whose worker was cut off in the moment of taking it is lost: the sweep asks for it again, and so does this.
      await untilDone(() => enqueue(engine, threadId));
      return wakes.threads.includes(threadId);
    };
    await expect.poll(isWoken, { interval: 1_000, timeout: 100_000 }).toBe(true);
  }
});

test('[G43] a stop while the database is away ends in time', async () => {
  const engine = await createEngine();
  await engine.start(async () => {});
  await server.stop();
  const begun = Date.now();
  await engine.stop();
  expect(Date.now() - begun).toBeLessThan(30_000);
  server = await startPostgres();
});
