import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import { Random } from '../chaos/random.ts';
import { doDuties, dutiesOf, toText } from './answering.ts';
import { request } from './api.ts';
import { openWay } from './severable-database.ts';
import { findPlace, openSite, say } from './site.ts';
import { isIdle, problemsOf } from './soundness.ts';
import { until } from './until.ts';

test('[G43] a connection that breaks in the middle of a transaction, between two statements, fails only the transaction', async () => {
  await using way = await openWay();
  const store = await openPostgresStore({ url: way.url, connections: 1 });
  const broken = store.transaction(async (tx) => {
    await tx.db.selectFrom('spaces').selectAll().execute();
    way.proxy.cut();
    await until('the connection is gone', () => way.proxy.count === 0);
    await tx.db.selectFrom('spaces').selectAll().execute();
  });
  await expect(broken).rejects.toMatchObject({ code: 'store_unavailable' });
  way.proxy.mend();
  await until('the store is back', () =>
    store.ping().then(
      () => true,
      () => false,
    ),
  );
  await store.close();
});

test('[G43] without its database a gateway answers 503 with Retry-After, and continues by itself once it is back', async () => {
  await using way = await openWay();
  const { proxy, url: databaseUrl } = way;
  const speaking = Promise.withResolvers<void>();
  const outage = Promise.withResolvers<void>();
  await using site = await openSite({
    databaseUrl,
    async decide(asked) {
      if (asked.agent !== 'Anna' || asked.newCalls.length > 0) return doDuties(asked);
      speaking.resolve();
      await outage.promise;
      return doDuties(asked);
    },
  });
  const gateway = await site.start('a');
  const { spaces, entities } = await findPlace(gateway.url);
  await say(gateway.url, 'North', 'Anna: charge m1');
  await speaking.promise;
  proxy.cut();
  // The model answers while nothing can be written.
  outage.resolve();
  const path = `/api/spaces/${spaces.North}/messages`;
  const message = { entityId: entities.Ada, text: 'Anna: answer m2', clientMessageId: 'm2' };
  const refused = await request(gateway.url, path, { body: message });
  expect([refused.status, refused.body.error.code]).toEqual([503, 'store_unavailable']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await request(gateway.url, path)).status).toBe(503);
  expect((await request(gateway.url, '/ready')).status).toBe(503);
  // The gateway counts as alive, because a restart would not help.
  expect((await request(gateway.url, '/health')).status).toBe(200);
  proxy.mend();
  await until('the message is taken', async () => (await request(gateway.url, path, { body: message })).status === 201);
  await until('all is answered', async () => {
    const { body } = await request(gateway.url, path);
    const texts = (body.items as { text: string }[] | undefined)?.map(({ text }) => text) ?? [];
    return texts.includes('Answer to m1.') && texts.includes('Answer to m2.') && (await isIdle(site));
  });
  expect(gateway.isRunning).toBe(true);
  expect(await problemsOf(site)).toEqual([]);
  expect((await request(gateway.url, '/ready')).status).toBe(200);
});

test('[G58] calls that the model makes while the database is away for longer than the lease are executed once it is back', async () => {
  await using way = await openWay();
  const speaking = Promise.withResolvers<void>();
  const outage = Promise.withResolvers<void>();
  await using site = await openSite({
    databaseUrl: way.url,
    async decide(asked) {
      if (asked.agent !== 'Anna') return { text: 'Nothing to do.' };
      speaking.resolve();
      await outage.promise;
      const { calls = [], ...reply } = doDuties(asked);
      const enter = dutiesOf(asked).map(({ spaceId }) => ({ name: 'enter_space', input: { spaceId } }));
      return calls.length === 0 ? reply : { calls: [...enter, ...calls] };
    },
  });
  const gateway = await site.start('a');
  // Two built-in tools read the store, one after the other.
  await say(gateway.url, 'North', 'Anna: answer m1');
  await speaking.promise;
  way.proxy.cut();
  outage.resolve();
  await until('the reply has come', () => site.model.openOf('a') === 0);
  await sleep(2_500);
  way.proxy.mend();
  await until('it is answered', async () => {
    const answers = await site.db.selectFrom('messages').select('id').where('content', 'like', '"Answer%').execute();
    return answers.length > 0 && (await isIdle(site));
  });
  expect(await problemsOf(site)).toEqual([]);
  const calls = site.model.requests.filter(({ agent }) => agent === 'Anna').at(-1)?.calls;
  expect(calls?.map(({ name, result }) => [name, result])).toEqual([
    ['enter_space', expect.stringMatching(/^Space 1 \(/)],
    ['send_message', 'Sent.'],
  ]);
  const runs = await site.db.selectFrom('runs').select('status').where('status', '!=', 'completed').execute();
  expect(runs).toEqual([]);
});

test('[G43] a commit whose confirmation is lost counts once, with any writes', async () => {
  await using way = await openWay();
  // Slowly, so that deltas are written while the reply is streamed.
  await using site = await openSite({
    databaseUrl: way.url,
    decide: (asked) => ({ ...doDuties(asked), paceMs: 15 }),
  });
  const gateway = await site.start('a', { LASTCALL_LOG_LEVEL: 'error' });
  const { spaces, entities } = await findPlace(gateway.url);
  const path = `/api/spaces/${spaces.North}/messages`;
  // At random: every fourth commit would always be the same in a repeating sequence.
  const random = new Random(4);
  way.proxy.loseCommits(() => random.isLucky(0.25));
  const works = ['answer', 'charge', 'record', 'look_up', 'answer', 'charge', 'record', 'look_up'];
  await Promise.all(
    works.map((what, index) => {
      const ref = `m${index}`;
      const text = toText(index % 3 === 0 ? 'Bert' : 'Anna', { what, ref });
      const body = { entityId: entities.Ada, text, clientMessageId: ref };
      return until(`${ref} is taken`, async () => (await request(gateway.url, path, { body })).status === 201);
    }),
  );
  // The database itself works, so it is read directly and not through the proxy.
  await until('everything is answered and at rest', async () => {
    const answers = await site.db.selectFrom('messages').select('id').where('content', 'like', '"Answer%').execute();
    return answers.length === works.length && (await isIdle(site));
  });
  way.proxy.loseCommits(() => false);
  expect(gateway.isRunning, gateway.output).toBe(true);
  expect(await problemsOf(site)).toEqual([]);
});

test('[G42] [G43] a gateway without its database stops on a signal', async () => {
  await using way = await openWay();
  const speaking = Promise.withResolvers<void>();
  await using site = await openSite({
    databaseUrl: way.url,
    async decide() {
      speaking.resolve();
      return await new Promise<never>(() => {});
    },
  });
  const gateway = await site.start('a', { TEST_GRACE_MS: '300' });
  await say(gateway.url, 'North', 'Anna: answer m1');
  await speaking.promise;
  way.proxy.cut();
  gateway.send('SIGTERM');
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
});
