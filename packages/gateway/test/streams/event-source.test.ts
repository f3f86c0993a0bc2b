import { afterEach, describe, expect, test } from 'vitest';
import { runStream, spaceStream } from '../../src/domain/streams/stream-names.ts';
import { sweepStreams } from '../../src/domain/streams/sweep-streams.ts';
import { createPostgresBus } from '../../src/ports/bus/postgres-bus.ts';
import { type Api, type ApiOptions, openApi, toRequest } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { memoryInUse } from '../support/memory.ts';
import { databases, onPostgres } from '../support/stores.ts';
import { type EventStream, readEventStream } from './event-stream.ts';

describe.each(databases)('streams over HTTP on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database, { heartbeatMs: 25 }));

  const opened: EventStream[] = [];
  afterEach(async () => {
    for (const stream of opened.splice(0)) await stream.close().catch(() => {});
  });

  const open = async (
    path: string,
    {
      secret = api.key,
      headers,
      on = api,
      lazy = false,
    }: { secret?: string | null; headers?: object; on?: Api; lazy?: boolean } = {},
  ): Promise<EventStream> => {
    const stream = readEventStream(
      await on.app.fetch(toRequest('GET', path, { secret, ...(headers === undefined ? {} : { headers }) })),
      { lazy },
    );
    opened.push(stream);
    return stream;
  };
  /** Another gateway's app on the same store, with other limits. */
  const openOther = (options: ApiOptions): Promise<Api> =>
    openApi(database, { ...options, services: { store: api.store, bus: api.services.bus } });
  const say = (spaceId: string, entityId: string, text: string): Promise<unknown> =>
    api.done('POST', `/api/spaces/${spaceId}/messages`, { entityId, text });
  const room = async (): Promise<{ ada: string; space: string; path: string }> => {
    const ada = await api.person();
    const space = await api.space(ada);
    return { ada, space, path: `/api/spaces/${space}/stream` };
  };

  test('[G45] every event has a seq, which is its id, a type, a time, and its payload', async () => {
    const { ada, space, path } = await room();
    const stream = await open(path, { secret: await api.tokenOf(ada) });
    await say(space, ada, 'hello');
    const event = await stream.next();
    expect(event).toMatchObject({ id: '2', event: 'message.complete' });
    expect(event?.data).toMatchObject({ seq: 2, type: 'message.complete', message: { text: 'hello', seq: 1 } });
    expect(event?.data.at).toBeGreaterThan(0);
    expect(event?.data.streamId).toBe(event?.data.message.id);
  });

  test('[G45] with Last-Event-ID the missed events come once, in order, before the new ones', async () => {
    const { ada, space, path } = await room();
    const stream = await open(path);
    await say(space, ada, 'one');
    const [first] = await stream.take(1);
    await stream.close();
    await say(space, ada, 'two');
    await say(space, ada, 'three');
    const again = await open(path, { headers: { 'last-event-id': String(first?.id) } });
    await say(space, ada, 'four');
    const texts = (await again.take(3)).map(({ data }) => data.message.text);
    expect(texts).toEqual(['two', 'three', 'four']);
    const byQuery = await open(`${path}?lastEventId=3`);
    expect((await byQuery.take(2)).map(({ data }) => data.message.text)).toEqual(['three', 'four']);
    const both = await open(`${path}?lastEventId=0`, { headers: { 'last-event-id': '4' } });
    expect((await both.take(1)).map(({ data }) => data.message.text)).toEqual(['four']);
  });

  test('[G45] a client that lost its connection before the first event resumes where it was', async () => {
    const { ada, space, path } = await room();
    const stream = await open(path);
    await stream.heartbeat();
    await stream.close();
    await say(space, ada, 'meanwhile');
    expect(stream.lastEventId).toBe('1');
    const again = await open(path, { headers: { 'last-event-id': String(stream.lastEventId) } });
    expect((await again.next())?.data.message.text).toBe('meanwhile');
  });

  test('[G45] outside the window a reset tells the client to reload', async () => {
    const { ada, space, path } = await room();
    await say(space, ada, 'old');
    await sweepStreams(api.services, { now: Date.now() + api.services.limits.streamWindowMs + 60_000 });
    await say(space, ada, 'new');
    const stream = await open(path, { headers: { 'last-event-id': '1' } });
    expect(await stream.next()).toMatchObject({ event: 'reset', id: '3', data: { seq: 3, type: 'reset' } });
    await say(space, ada, 'newest');
    expect((await stream.next())?.data.message.text).toBe('newest');
  });

  test('[G50] [G1] a stream ends when its entity leaves the space, without later messages', async () => {
    const { ada, space, path } = await room();
    const ben = await api.person('Ben');
    await api.done('POST', `/api/spaces/${space}/members`, { entityId: ben });
    // There are no heartbeats, so the event itself ends it.
    const calm = await openOther({ heartbeatMs: 1_000_000 });
    const stream = await open(path, { secret: await api.tokenOf(ben), on: calm });
    const others = await open(path, { secret: await api.tokenOf(ada), on: calm });
    await api.done('DELETE', `/api/spaces/${space}/members`, { entityId: ben });
    await say(space, ada, 'now that Ben is gone');
    expect((await stream.rest()).map(({ event }) => event)).toEqual(['member.left']);
    expect((await others.take(2)).map(({ event }) => event)).toEqual(['member.left', 'message.complete']);
    expect((await calm.call('GET', path, { secret: await api.tokenOf(ben) })).status).toBe(404);
    calm.app.stop();
  });

  test('[G50] an entity that left and is back reads on past the event of its leaving', async () => {
    const { ada, space, path } = await room();
    await api.done('DELETE', `/api/spaces/${space}/members`, { entityId: ada });
    await api.done('POST', `/api/spaces/${space}/members`, { entityId: ada });
    const stream = await open(`${path}?lastEventId=0`, { secret: await api.tokenOf(ada) });
    expect((await stream.take(3)).map(({ event }) => event)).toEqual(['member.joined', 'member.left', 'member.joined']);
    await say(space, ada, 'back');
    expect((await stream.next())?.event).toBe('message.complete');
  });

  test('[G50] a stream ends with its token', async () => {
    const { ada, path } = await room();
    const calm = await openOther({ heartbeatMs: 1_000_000 });
    const stream = await open(path, { secret: await api.tokenOf(ada, 2), on: calm });
    expect(stream.status).toBe(200);
    expect(await stream.rest()).toEqual([]);
    calm.app.stop();
  });

  test('[G50] a stream ends when its key is revoked', async () => {
    const { path } = await room();
    const { id, key } = await api.done<{ id: string; key: string }>('POST', '/api/keys', {
      name: 'k',
      scopes: ['read'],
    });
    const stream = await open(path, { secret: key });
    await stream.heartbeat();
    await api.done('DELETE', `/api/keys/${id}`);
    expect(await stream.rest()).toEqual([]);
  });

  test('[G50] a stream ends when its entity is deleted', async () => {
    const { ada, path } = await room();
    const stream = await open(path, { secret: await api.tokenOf(ada) });
    await stream.heartbeat();
    await api.store.transaction(({ db }) =>
      db.updateTable('entities').set({ deleted_at: 1 }).where('id', '=', ada).execute(),
    );
    expect(await stream.rest()).toEqual([]);
  });

  test('streams end when the gateway stops, and no new ones begin', async () => {
    const { path } = await room();
    const other = await openOther({ heartbeatMs: 25 });
    const stream = await open(path, { on: other });
    await stream.heartbeat();
    other.app.stop();
    expect(await stream.rest()).toEqual([]);
    expect(await other.call('GET', path)).toMatchObject({ status: 503, body: { error: { code: 'stopping' } } });
    expect(await other.call('GET', '/ready')).toMatchObject({ status: 503 });
  });

  test('[G43] a stream survives a short outage of the database, and ends if it stays away', async () => {
    const { ada, space, path } = await room();
    let away = false;
    const store = {
      ...api.store,
      get db() {
        if (away) throw new Error('ECONNREFUSED');
        return api.store.db;
      },
    };
    const other = await openApi(database, { heartbeatMs: 25, services: { store, bus: api.services.bus } });
    const stream = await open(path, { on: other });
    await stream.heartbeat();
    away = true;
    await stream.heartbeat();
    away = false;
    await say(space, ada, 'still here');
    expect((await stream.next())?.data.message.text).toBe('still here');
    away = true;
    expect(await stream.rest()).toEqual([]);
    expect(await other.app.metrics.render()).toContain('lastcall_streams_closed_total{why="error"} 1');
  });

  const slowOnes = async (on: Api): Promise<string | undefined> =>
    /lastcall_streams_closed_total\{why="slow"\} (\d+)/.exec(await on.app.metrics.render())?.[1];

  test('[G49] a client that stops reading is disconnected, and resumes without a loss', async () => {
    const { ada, space, path } = await room();
    const impatient = await openOther({ heartbeatMs: 1_000_000, limits: { streamStallMs: 200 } });
    const stream = await open(path, { on: impatient, lazy: true });
    for (let index = 1; index <= 12; index++) await say(space, ada, `${index}`);
    await expect.poll(() => slowOnes(impatient)).toBe('1');
    const got = await stream.rest();
    expect(got.length).toBeLessThan(12);
    const again = await open(path, { on: impatient, headers: { 'last-event-id': String(stream.lastEventId) } });
    const rest = await again.take(12 - got.length);
    expect([...got, ...rest].map(({ data }) => data.message.text)).toEqual(
      Array.from({ length: 12 }, (_, index) => `${index + 1}`),
    );
    impatient.app.stop();
  });

  test('[G49] a client that reads nothing at all is disconnected, also while it catches up', async () => {
    const { ada, space, path } = await room();
    for (let index = 0; index < 5; index++) await say(space, ada, `${index}`);
    const impatient = await openOther({ limits: { streamStallMs: 50 } });
    await open(`${path}?lastEventId=0`, { on: impatient, lazy: true });
    await expect.poll(() => slowOnes(impatient)).toBe('1');
    impatient.app.stop();
  });

  test('[G49] a client that lags behind by more than fits in memory, and reads on, is not disconnected', async () => {
    const { ada, space, path } = await room();
    const tight = await openOther({ limits: { streamBacklog: 5 } });
    const stream = await open(path, { on: tight, lazy: true });
    for (let index = 1; index <= 30; index++) await say(space, ada, `${index}`);
    const texts = (await stream.take(30)).map(({ data }) => data.message.text);
    expect(texts).toEqual(Array.from({ length: 30 }, (_, index) => `${index + 1}`));
    expect(await slowOnes(tight)).toBeUndefined();
    tight.app.stop();
  });

  test('[G49] many clients in the middle of one large event cost its size once', async () => {
    const { space, path } = await room();
    await api.store.transaction(async (tx) =>
      tx.emit({
        stream: spaceStream(space),
        type: 'tool-call.progress',
        payload: { value: 'x'.repeat(10_000_000) },
      }),
    );
    const before = await memoryInUse();
    const bodies = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const response = await api.app.fetch(toRequest('GET', `${path}?lastEventId=1`, { secret: api.key }));
        const body = (response.body as ReadableStream<Uint8Array>).getReader();
        // The start, and then the first pieces.
        for (let piece = 0; piece < 4; piece++) await body.read();
        return body;
      }),
    );
    // Its text and its bytes are 20 MB; 300 MB and more if each client had its own copy.
    expect((await memoryInUse()) - before).toBeLessThan(100_000_000);
    for (const body of bodies) await body.cancel();
  });

  test('[G53] more streams than the limit are refused, and a place is free again when one ends', async () => {
    const { path } = await room();
    const small = await openOther({ limits: { connections: 2 } });
    const streams = [await open(path, { on: small }), await open(path, { on: small })];
    const refused = await small.call('GET', path);
    expect([refused.status, refused.body.error.code]).toEqual([429, 'too_many_streams']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await streams[0]?.close();
    expect((await open(path, { on: small })).status).toBe(200);
    expect(await small.app.metrics.render()).toContain('lastcall_open_streams 2');
    small.app.stop();
  });

  test('[G52] a token may be in the query of a stream; a secret key may not, and other paths allow neither', async () => {
    const { ada, path } = await room();
    const token = await api.tokenOf(ada);
    expect((await open(`${path}?token=${token}`, { secret: null })).status).toBe(200);
    expect((await api.call('GET', `${path}?token=${api.key}`, { secret: null })).status).toBe(401);
    expect((await api.call('GET', `/api/spaces?token=${token}`, { secret: null })).status).toBe(401);
    expect((await api.call('GET', `${path}?token=${token}`, { secret: 'lc_sk_wrong' })).status).toBe(401);
  });

  test('[G27] the stream of a run is only for secret keys', async () => {
    const { ada } = await room();
    const agent = await api.agent();
    const run = await api.run(agent);
    const path = `/api/runs/${run}/stream`;
    expect((await api.call('GET', path, { secret: await api.tokenOf(ada) })).status).toBe(403);
    expect((await api.call('GET', `${path}?token=${await api.tokenOf(ada)}`, { secret: null })).status).toBe(403);
    const stream = await open(path);
    await api.store.transaction(async (tx) =>
      tx.emit({ stream: runStream(run), type: 'run.end', payload: { runId: run } }),
    );
    expect(await stream.next()).toMatchObject({ event: 'run.end', data: { runId: run } });
  });

  test('[G45] [G49] the stream of a run is resumed, reset and cut off as that of a space is', async () => {
    const run = await api.run(await api.agent());
    const path = `/api/runs/${run}/stream`;
    const happen = (type: string): Promise<void> =>
      api.store.transaction(async (tx) => tx.emit({ stream: runStream(run), type, payload: {} }));
    const stream = await open(path);
    await happen('one');
    expect(await stream.next()).toMatchObject({ id: '1', event: 'one', data: { seq: 1, type: 'one' } });
    await stream.close();
    await happen('two');
    await happen('three');
    const again = await open(path, { headers: { 'last-event-id': '1' } });
    await happen('four');
    expect((await again.take(3)).map(({ event }) => event)).toEqual(['two', 'three', 'four']);
    await sweepStreams(api.services, { now: Date.now() + api.services.limits.streamWindowMs + 60_000 });
    await happen('five');
    const late = await open(path, { headers: { 'last-event-id': '1' } });
    expect(await late.next()).toMatchObject({ event: 'reset', id: '5' });
    const impatient = await openOther({ limits: { streamStallMs: 50 } });
    await open(`${path}?lastEventId=4`, { on: impatient, lazy: true });
    await expect.poll(() => slowOnes(impatient)).toBe('1');
    impatient.app.stop();
  });

  test("the fields of a payload never overwrite the stream's own fields", async () => {
    const { space, path } = await room();
    const stream = await open(path);
    await api.store.transaction(async (tx) =>
      tx.emit({
        stream: spaceStream(space),
        type: 'odd',
        payload: { seq: -1, type: 'fake', at: 0, text: 'a\nevent: fake\ndata: {}\n\n\u0000\ud800' },
      }),
    );
    const event = await stream.next();
    expect(event).toMatchObject({ event: 'odd', data: { type: 'odd', seq: Number(event?.id) } });
    expect(event?.data.text).toBe('a\nevent: fake\ndata: {}\n\n\u0000\ud800');
  });

  test('HEAD opens no stream, and an invalid id is refused', async () => {
    const { path } = await room();
    expect((await api.call('HEAD', path)).status).toBe(405);
    for (const id of ['-1', 'x', '1e3', '99999999999999999999'])
      expect((await api.call('GET', path, { headers: { 'last-event-id': id } })).status).toBe(422);
    expect((await api.call('GET', `${path}?lastEventId=x`)).status).toBe(422);
  });
});

test('[G45] events that one gateway writes arrive on another', async () => {
  const database = await onPostgres.create();
  const buses = [1, 2].map(() => createPostgresBus({ url: database.location }));
  for (const bus of buses) await bus.start();
  const [one, two] = await Promise.all(buses.map((bus) => openApi(database, { services: { bus } })));
  if (one === undefined || two === undefined) throw new Error('There are two.');
  const ada = await one.person();
  const space = await one.space(ada);
  const stream = readEventStream(
    await two.app.fetch(toRequest('GET', `/api/spaces/${space}/stream`, { secret: two.key })),
  );
  for (let index = 0; index < 5; index++)
    await one.done('POST', `/api/spaces/${space}/messages`, { entityId: ada, text: `${index}` });
  expect((await stream.take(5)).map(({ data }) => data.message.text)).toEqual(['0', '1', '2', '3', '4']);
  await stream.close();
  for (const bus of buses) await bus.stop();
  await one.close();
  await two.close();
  await database.remove();
});
