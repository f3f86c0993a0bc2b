import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ensureFirstKey } from '../../src/domain/keys/first-key.ts';
import { readStream } from '../../src/domain/streams/read-stream.ts';
import { runStream, spaceStream } from '../../src/domain/streams/stream-names.ts';
import { sweepStreams } from '../../src/domain/streams/sweep-streams.ts';
import type { Bus } from '../../src/ports/bus/bus.ts';
import { createPostgresBus } from '../../src/ports/bus/postgres-bus.ts';
import { eventSource } from '../../src/transport/sse/event-source.ts';
import { createOpenStreams } from '../../src/transport/sse/open-streams.ts';
import { type Api, openApi, toRequest } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { type Database, databases, onPostgres, onSqlite } from '../support/stores.ts';
import { type EventStream, readEventStream } from './event-stream.ts';

/** No heartbeat ever comes, so it cannot be what ends a stream here. */
const NEVER_MS = 1_000_000;

const opened: EventStream[] = [];
afterEach(async () => {
  for (const stream of opened.splice(0)) await stream.close().catch(() => {});
});

async function open(on: Api, path: string, secret: string): Promise<EventStream> {
  const stream = readEventStream(await on.app.fetch(toRequest('GET', path, { secret })));
  opened.push(stream);
  expect(stream.status).toBe(200);
  return stream;
}

async function newKey(on: Api): Promise<{ id: string; key: string }> {
  return await on.done('POST', '/api/keys', { name: 'reader', scopes: ['read'] });
}

async function room(on: Api): Promise<{ ada: string; space: string; path: string; say(text: string): Promise<void> }> {
  const ada = await on.person();
  const space = await on.space(ada);
  return {
    ada,
    space,
    path: `/api/spaces/${space}/stream`,
    say: async (text) => void (await on.done('POST', `/api/spaces/${space}/messages`, { entityId: ada, text })),
  };
}

const textsOf = (events: Awaited<ReturnType<EventStream['rest']>>): unknown[] =>
  events.map(({ event, data }) => (event === 'message.complete' ? data.message.text : event));

describe.each(databases)('a stream on $kind, without a heartbeat,', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database, { heartbeatMs: NEVER_MS }));

  test('[G50] a stream gets no messages from after the revocation of its key, and those of other keys get them', async () => {
    const { path, say } = await room(api);
    const { id, key } = await newKey(api);
    const stream = await open(api, path, key);
    const others = await open(api, path, api.key);
    await say('before');
    await api.done('DELETE', `/api/keys/${id}`);
    await say('after');
    expect(textsOf(await stream.rest())).toEqual(['before']);
    expect(textsOf(await others.take(2))).toEqual(['before', 'after']);
  });

  test('[G50] a stream of a run gets nothing that happens after its key was revoked', async () => {
    const run = await api.run(await api.agent());
    const happen = (type: string): Promise<void> =>
      api.store.transaction(async (tx) => tx.emit({ stream: runStream(run), type, payload: {} }));
    const { id, key } = await newKey(api);
    const stream = await open(api, `/api/runs/${run}/stream`, key);
    await happen('before');
    await api.done('DELETE', `/api/keys/${id}`);
    await happen('after');
    expect(textsOf(await stream.rest())).toEqual(['before']);
  });

  test('[G50] a stream ends when its key is revoked, even without messages', async () => {
    const { path } = await room(api);
    const { id, key } = await newKey(api);
    const stream = await open(api, path, key);
    await api.done('DELETE', `/api/keys/${id}`);
    expect(await stream.rest()).toEqual([]);
    expect((await api.call('GET', path, { secret: key })).status).toBe(401);
  });

  test('[G50] a stream of the configured key ends when another key is configured', async () => {
    const { path, say } = await room(api);
    await ensureFirstKey(api.services, { secretKey: 'operator-key-one' });
    const stream = await open(api, path, 'operator-key-one');
    await ensureFirstKey(api.services, { secretKey: 'operator-key-two' });
    await say('after');
    expect(await stream.rest()).toEqual([]);
  });

  test('[G50] a stream whose key is revoked at any moment gets no messages from after the response to the revocation', async () => {
    const { path, say } = await room(api);
    const { answered, said, got } = await race({ reading: api, revoking: api, path, say });
    expect(got.every((text) => Number(text) <= answered)).toBe(true);
    expect(said).toBeGreaterThan(answered);
  });
});

describe('a stream of one of two gateways, without a heartbeat,', () => {
  let database: Database;
  let buses: readonly Bus[];
  let near: Api;
  let far: Api;
  /** The same as `far`, but it never gets the notice that a key was revoked, as if that were lost or late. */
  let deaf: Api;
  beforeAll(async () => {
    database = await onPostgres.create();
    buses = [1, 2].map(() => createPostgresBus({ url: database.location }));
    for (const bus of buses) await bus.start();
    const [one, two] = buses as [Bus, Bus];
    near = await openApi(database, { heartbeatMs: NEVER_MS, services: { bus: one } });
    far = await openApi(database, { heartbeatMs: NEVER_MS, services: { bus: two } });
    const silent: Bus = {
      ...two,
      subscribe: (stream, listener) => (stream === 'revocations' ? () => {} : two.subscribe(stream, listener)),
    };
    deaf = await openApi(database, { heartbeatMs: NEVER_MS, services: { bus: silent, store: far.store } });
  });
  afterAll(async () => {
    for (const { app } of [near, far, deaf]) app.stop();
    for (const bus of buses) await bus.stop();
    await near.close();
    await far.close();
    await database.remove();
  });

  test('[G50] a stream gets no messages from after the revocation of its key through the other gateway', async () => {
    const { path, say } = await room(near);
    const { id, key } = await newKey(near);
    const stream = await open(far, path, key);
    await say('before');
    expect(textsOf(await stream.take(1))).toEqual(['before']);
    await near.done('DELETE', `/api/keys/${id}`);
    await say('after');
    expect(await stream.rest()).toEqual([]);
  });

  test('[G50] a stream gets no messages from after the revocation even if the notice of it is lost', async () => {
    const { path, say } = await room(near);
    const { id, key } = await newKey(near);
    const stream = await open(deaf, path, key);
    const others = await open(deaf, path, near.key);
    await say('before');
    expect(textsOf(await stream.take(1))).toEqual(['before']);
    await near.done('DELETE', `/api/keys/${id}`);
    await say('after');
    expect(await stream.rest()).toEqual([]);
    expect(textsOf(await others.take(2))).toEqual(['before', 'after']);
  });

  test('[G50] streams of all keys end if revocations were deleted before the gateway read them', async () => {
    const { path, say } = await room(near);
    const { id, key } = await newKey(near);
    const stream = await open(deaf, path, key);
    const others = await open(deaf, path, near.key);
    await say('before');
    expect(textsOf([...(await stream.take(1)), ...(await others.take(1))])).toEqual(['before', 'before']);
    await near.done('DELETE', `/api/keys/${id}`);
    await sweepStreams(near.services, { now: Date.now() + near.services.limits.streamWindowMs + 60_000 });
    await say('after');
    // The gateway cannot know whose key it was, so clients with a valid key have to open another stream.
    expect([await stream.next(), await others.next()]).toEqual([undefined, undefined]);
    const again = await open(deaf, path, near.key);
    await say('later');
    expect(textsOf(await again.take(1))).toEqual(['later']);
  });

  test('[G50] a stream whose key is revoked at any moment gets no messages from after the response to the revocation', async () => {
    const { path, say } = await room(near);
    for (const [reading, revoking] of [
      [far, near],
      [deaf, near],
      [deaf, far],
    ] as const) {
      const { answered, said, got } = await race({ reading, revoking, path, say });
      expect(got.every((text) => Number(text) <= answered)).toBe(true);
      expect(said).toBeGreaterThan(answered);
    }
  });

  test('[G50] [G1] a stream ends when its entity is removed from the space through the other gateway, without later messages', async () => {
    const { space, path, say } = await room(near);
    const ben = await near.person('Ben');
    await near.done('POST', `/api/spaces/${space}/members`, { entityId: ben });
    const stream = await open(far, path, await near.tokenOf(ben));
    await say('before');
    await near.done('DELETE', `/api/spaces/${space}/members`, { entityId: ben });
    await say('after');
    expect(textsOf(await stream.rest())).toEqual(['before', 'member.left']);
  });
});

/** Posts messages all the time, and revokes the key of a stream in the middle. */
async function race(of: {
  reading: Api;
  revoking: Api;
  path: string;
  say(text: string): Promise<void>;
}): Promise<{ answered: number; said: number; got: unknown[] }> {
  const { reading, revoking, path, say } = of;
  const { id, key } = await newKey(revoking);
  const stream = await open(reading, path, key);
  let said = 0;
  let isOver = false;
  const speaking = (async () => {
    while (!isOver) await say(String(++said));
  })();
  await stream.take(3);
  await revoking.done('DELETE', `/api/keys/${id}`);
  // Messages that are active now were sent before the response arrived.
  const answered = said;
  const got = stream.rest();
  await expect.poll(() => said).toBeGreaterThan(answered + 5);
  isOver = true;
  await speaking;
  return { answered, said, got: textsOf(await got) };
}

test('[G50] an event that is read after the token of the stream expired is not sent, even if the timer is late', async () => {
  const database = await onSqlite.create();
  const api = await openApi(database);
  const { space, say } = await room(api);
  const reader = await readStream(api.services, { stream: spaceStream(space) });
  const expiresAt = Date.now() + 100;
  const body = eventSource({
    reader,
    ...readerOptions(api, { expiresAt }),
    heartbeatMs: NEVER_MS,
    stallMs: NEVER_MS,
  });
  await say('waits to be taken');
  // No timer comes while this runs.
  while (Date.now() <= expiresAt);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe('retry: 1000\nid: 1\n\n');
  await api.close();
  await database.remove();
});

/** Options for the stream of a client that may read until this time, or for ever. */
const readerOptions = (api: Api, { expiresAt }: { expiresAt?: number } = {}) => ({
  streams: createOpenStreams(api.services.limits, api.app.metrics),
  holder: { caller: { kind: 'anonymous' as const }, address: '' },
  logger: api.services.logger,
  access: {
    isAllowed: async () => true,
    concerns: () => false,
    catchUp: () => undefined,
    ended: new AbortController().signal,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    close() {},
  },
});

test('a stream does not wait at its end any more once its client has disconnected', async () => {
  const database = await onSqlite.create();
  const api = await openApi(database);
  const { space, say } = await room(api);
  const waiting = Promise.withResolvers<AbortSignal>();
  const body = eventSource({
    reader: await readStream(api.services, { stream: spaceStream(space) }),
    ...readerOptions(api),
    finish(_event, signal) {
      waiting.resolve(signal);
      return new Promise(() => {});
    },
    heartbeatMs: NEVER_MS,
    stallMs: NEVER_MS,
  });
  const client = body.getReader();
  await say('the last event');
  await client.read();
  const signal = await waiting.promise;
  expect(signal.aborted).toBe(false);
  await client.cancel();
  expect(signal.aborted).toBe(true);
  await api.close();
  await database.remove();
});
