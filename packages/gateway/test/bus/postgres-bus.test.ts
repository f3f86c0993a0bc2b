import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Bus } from '../../src/ports/bus/bus.ts';
import { createPostgresBus } from '../../src/ports/bus/postgres-bus.ts';
import { until } from '../processes/until.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { eventOf, listenTo } from './notices.ts';

let server: PostgresServer;
let url: string;
let one: Bus;
let other: Bus;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());
beforeEach(async () => {
  url = await server.createDatabase();
  [one, other] = [createPostgresBus({ url }), createPostgresBus({ url })];
  await Promise.all([one.start(), other.start()]);
});
afterEach(async () => {
  await Promise.all([one.stop(), other.stop()]);
});

const seqIs = (seq: number) => (notice: { seq: number }) => notice.seq === seq;

async function killConnections(running: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and query like $1`,
    [running],
  );
  await client.end();
}

test('a bus that is stopped while it starts keeps no connection', async () => {
  const late = createPostgresBus({ url: `${url}?application_name=late` });
  const starting = late.start().catch(() => {});
  await late.stop();
  await starting;
  const client = new Client({ connectionString: url });
  await client.connect();
  await until('its connections are closed', async () => {
    const { rowCount } = await client.query("select 1 from pg_stat_activity where application_name = 'late'");
    return rowCount === 0;
  });
  await client.end();
});

test('a second gateway gets the published events unchanged, in order and once', async () => {
  const heard = listenTo(other, 'c');
  const events = Array.from({ length: 500 }, (_, index) =>
    eventOf('c', index + 1, { text: `"é😀<${index}`, nested: [null] }),
  );
  for (const event of events) one.publish([event]);
  await heard.until(seqIs(500));
  expect(heard.notices).toEqual(events.map((event) => ({ stream: 'c', seq: event.seq, event })));
});

test('a gateway does not receive its own events again', async () => {
  const [own, heard] = [listenTo(one, 'c'), listenTo(other, 'c')];
  one.publish([eventOf('c', 1), eventOf('c', 2)]);
  await heard.until(seqIs(2));
  // The database keeps the order, so its own events would arrive before this one.
  other.publish([eventOf('c', 3)]);
  await own.until(seqIs(3));
  expect(own.notices.map(({ seq }) => seq)).toEqual([1, 2, 3]);
});

test('a notification that no gateway sent is ignored', async () => {
  const heard = listenTo(other, 'c');
  const client = new Client({ connectionString: url });
  await client.connect();
  const strange = ['', 'no', '1', 'null', '{}', '{"from":1,"notices":[]}', '{"from":"x","notices":[null,1,{"seq":1}]}'];
  for (const payload of strange) await client.query('select pg_notify($1, $2)', ['lastcall_stream', payload]);
  await client.end();
  one.publish([eventOf('c', 1)]);
  await heard.until(seqIs(1));
  expect(heard.notices).toHaveLength(1);
});

test('an event that is too large for a notification is sent by reference, and the others are sent complete', async () => {
  const heard = listenTo(other, 'c');
  const large = eventOf('c', 2, { text: '😀'.repeat(2_000) });
  one.publish([eventOf('c', 1), large, eventOf('c', 3)]);
  await heard.until(seqIs(3));
  expect(heard.notices).toEqual([
    { stream: 'c', seq: 1, event: eventOf('c', 1) },
    { stream: 'c', seq: 2 },
    { stream: 'c', seq: 3, event: eventOf('c', 3) },
  ]);
});

test('every size up to the limit and beyond arrives', async () => {
  const heard = listenTo(other, 'c');
  const sizes = Array.from({ length: 300 }, (_, index) => 7_700 + index);
  one.publish(sizes.map((size, index) => eventOf('c', index + 1, 'x'.repeat(size))));
  await heard.until(seqIs(300));
  expect(heard.notices.map(({ seq }) => seq)).toEqual(sizes.map((_, index) => index + 1));
  expect(heard.notices[0]?.event).toBeDefined();
  expect(heard.notices.at(-1)?.event).toBeUndefined();
});

test('odd characters and an absent payload are delivered', async () => {
  const heard = listenTo(other, '\u0000\ud800"');
  one.publish([eventOf('\u0000\ud800"', 1, { text: '\u0000 \ud800 \u2028 \r\n' })]);
  one.publish([{ ...eventOf('\u0000\ud800"', 2), payload: undefined }]);
  expect((await heard.until(seqIs(1))).event?.payload).toEqual({ text: '\u0000 \ud800 \u2028 \r\n' });
  expect((await heard.until(seqIs(2))).event?.payload).toBeNull();
});

test('a stream whose name is too long for a notification does not block others', async () => {
  const heard = listenTo(other, 'c');
  one.publish([eventOf('x'.repeat(9_000), 1), eventOf('c', 1)]);
  await heard.until(seqIs(1));
});

test('events that a gateway published just before its stop are delivered', async () => {
  const heard = listenTo(other, 'c');
  one.publish([eventOf('c', 1)]);
  one.publish([eventOf('c', 2)]);
  await one.stop();
  await heard.until(seqIs(2));
});

test('[G43] after a restart of the database subscribers get a notice to read the store, and then get events again', async () => {
  const heard = listenTo(other, 'c');
  const unheard = listenTo(other, 'ended');
  await server.restart();
  // It is unknown which events were missed.
  expect(await heard.until(seqIs(0))).toEqual({ stream: 'c', seq: 0 });
  await unheard.until(seqIs(0));
  one.publish([eventOf('c', 7)]);
  await heard.until(seqIs(7));
});

test('[G43] events published while the database is away are delivered later', async () => {
  const heard = listenTo(other, 'c');
  let isBack = false;
  const restarted = server.restart().finally(() => {
    isBack = true;
  });
  let seq = 0;
  while (!isBack) {
    one.publish([eventOf('c', ++seq)]);
    await turnOfTheLoop();
  }
  await restarted;
  // A gateway that listens again only after the last one was sent gets a notice to read the store instead.
  await heard.until((notice) => notice.seq === seq || notice.seq === 0);
});

test('[G43] a bus that cannot connect again says why, and delivers events once it can', async () => {
  const warnings: string[] = [];
  const warn = (message: string, error: unknown): void => void warnings.push(`${message} ${error}`);
  const third = createPostgresBus({ url, logger: { ...quiet, warn } });
  await third.start();
  const heard = listenTo(third, 'c');
  await allowConnections(false);
  await until('both connections were refused for some time', () => warnings.filter(isOfRefusal).length === 2);
  await allowConnections(true);
  await heard.until(seqIs(0));
  one.publish([eventOf('c', 7)]);
  await heard.until(seqIs(7));
  await third.stop();
});

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

const isOfRefusal = (warning: string): boolean =>
  /^The bus still has no connection to the database: .* is not currently accepting connections/.test(warning);

/** Refuses connections as a server does that has no room for more, and ends those that are open. */
async function allowConnections(isAllowed: boolean): Promise<void> {
  const other = new URL(url);
  const name = other.pathname.slice(1);
  other.pathname = '/postgres';
  const client = new Client({ connectionString: other.href });
  await client.connect();
  await client.query(`alter database ${name} allow_connections ${isAllowed}`);
  if (!isAllowed)
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  await client.end();
}

test('[G43] a publisher whose connection is cut sends again', async () => {
  const heard = listenTo(other, 'c');
  for (let seq = 1; seq <= 3; seq++) {
    await killConnections('%pg_notify%');
    one.publish([eventOf('c', seq)]);
    await heard.until(seqIs(seq));
  }
});

test('[G43] of many events published while the database is away only the newest of each stream is kept, by reference', async () => {
  const fresh = createPostgresBus({ url });
  for (let seq = 1; seq <= 5_000; seq++) fresh.publish([eventOf('c', seq), eventOf('d', seq)]);
  const heard = { c: listenTo(other, 'c'), d: listenTo(other, 'd') };
  await fresh.start();
  await Promise.all([heard.c.until(seqIs(5_000)), heard.d.until(seqIs(5_000))]);
  expect(heard.c.notices.length).toBeLessThanOrEqual(1_001);
  await fresh.stop();
});

test('a stop while the database is away ends in time', async () => {
  const [bus, away] = [createPostgresBus({ url }), server];
  await bus.start();
  await away.stop();
  bus.publish([eventOf('c', 1)]);
  const begun = Date.now();
  await bus.stop();
  expect(Date.now() - begun).toBeLessThan(30_000);
  server = await startPostgres();
});
