import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Client, ClientError, createClient } from '../src/index.ts';
import { type CountingServer, startCountingServer, type Treatment } from './support/counting-server.ts';

const refused = (status: number, code: string, details?: object): Treatment => ({
  status,
  body: { error: { code, message: 'No.', ...(details === undefined ? {} : { details }) } },
  headers: { 'retry-after': '0' },
});
const OK: Treatment = { status: 200, body: { items: [], duplicate: false } };
const BROKEN: Treatment = refused(500, 'internal');
const STOPPING: Treatment = refused(503, 'stopping');
const IN_DOUBT: Treatment = refused(503, 'store_unavailable', { inDoubt: true });
const FULL: Treatment = refused(429, 'inbox_full');
const proxySays = (status: number): Treatment => ({
  status,
  text: '<html>Try later</html>',
  headers: { 'retry-after': '0' },
});
const PROXY = proxySays(503);

const call = { runId: 'r', callId: 'c' };

/** Requests that are safe to repeat: reads, and requests with an id that counts once. */
const repeatable: readonly [string, (client: Client) => Promise<unknown>][] = [
  ['a list', (client) => client.spaces.list()],
  ['a read', (client) => client.runs.get('r')],
  ['a message', (client) => client.spaces.say('s', { text: 'Hello.' })],
  ['an event', (client) => client.agents.send('a', { source: 'x', name: 'y' })],
  ['an answer', (client) => client.pending.answer(call, { result: 1 })],
  ['a chat request', (client) => client.chat.send({ message: 'Hello.' })],
  ['a command', (client) => client.agents.command('a', { name: 'stop' })],
  ['a file', (client) => client.agents.putFile('a', { path: 'notes.md', content: 'Hello.' })],
];

const others: readonly [string, (client: Client) => Promise<unknown>][] = [
  ['a new space', (client) => client.spaces.create({ name: 'S' })],
  ['a new agent', (client) => client.agents.create({ name: 'A', instructions: '' })],
  ['a change', (client) => client.agents.update('a', { instructions: '' })],
  ['a removal', (client) => client.agents.delete('a')],
  ['a test of a tool', (client) => client.tools.test('t', { input: {} })],
  ['a claim', (client) => client.jobs.claim('c', { worker: 'w' })],
  ['a cancel', (client) => client.runs.cancel('r')],
  ['a token', (client) => client.entities.token('e')],
  ['a new conversation', (client) => client.conversations.create()],
];

describe('requests that the client repeats', () => {
  let server: CountingServer;
  let client: Client;
  beforeAll(async () => {
    server = await startCountingServer();
    client = createClient({ url: server.url, auth: { key: 'k' }, backoff: { firstMs: 1, maxMs: 2 }, attempts: 4 });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each(repeatable)('[S10] %s is sent again until it is answered, and is the same each time', async (_, send) => {
    for (const trouble of ['cut', BROKEN, STOPPING, IN_DOUBT, FULL, PROXY, proxySays(408), proxySays(429)] as const) {
      server.treat(trouble, trouble, OK);
      await send(client);
      expect(server.seen).toHaveLength(3);
      const [first, ...again] = server.seen;
      const key = first?.headers['idempotency-key'];
      for (const one of again) {
        expect([one.method, one.path, one.body]).toEqual([first?.method, first?.path, first?.body]);
        expect(one.headers['idempotency-key']).toBe(key);
      }
    }
  });

  test.each(repeatable)(
    '[S10] %s is given up after a number of tries, and at once if the request itself is wrong',
    async (_, send) => {
      server.treat('cut');
      await expect(send(client)).rejects.toMatchObject({ code: 'unreachable', status: undefined });
      expect(server.seen).toHaveLength(4);
      server.treat(refused(403, 'forbidden'));
      await expect(send(client)).rejects.toMatchObject({ code: 'forbidden', status: 403 });
      expect(server.seen).toHaveLength(1);
    },
  );

  test.each(others)('[S10] %s is not sent again if it may have been done', async (_, send) => {
    for (const trouble of ['cut', BROKEN, IN_DOUBT, PROXY] as const) {
      server.treat(trouble, OK);
      await expect(send(client)).rejects.toBeInstanceOf(ClientError);
      expect(server.seen).toHaveLength(1);
    }
  });

  test.each(others)('[S10] %s is sent again if the gateway refused it', async (_, send) => {
    for (const refusal of [FULL, STOPPING]) {
      server.treat(refusal, OK);
      await send(client);
      expect(server.seen).toHaveLength(2);
    }
  });

  test('[S10] two messages have two ids, and an id of the caller is kept', async () => {
    server.treat(OK);
    await client.spaces.say('s', { text: 'a' });
    await client.spaces.say('s', { text: 'a' });
    await client.spaces.say('s', { text: 'a', clientMessageId: 'mine' });
    const ids = server.seen.map(({ body }) => body.clientMessageId);
    expect(new Set(ids).size).toBe(3);
    expect(ids[2]).toBe('mine');
  });

  test('[S10] a chat request whose run failed is not sent again, and its stream is opened a number of times', async () => {
    server.treat(refused(502, 'run_failed'));
    await expect(client.chat.send({ message: 'Hello.' })).rejects.toMatchObject({ code: 'run_failed', status: 502 });
    expect(server.seen).toHaveLength(1);
    server.treat('cut');
    const events = client.chat.stream({ message: 'Hello.' })[Symbol.asyncIterator]();
    await expect(events.next()).rejects.toMatchObject({ code: 'unreachable' });
    expect(server.seen).toHaveLength(4);
    expect(new Set(server.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  test("[S10] a proxy's page is no stream: it is not shown as live, and a chat request is given up", async () => {
    server.treat({ status: 200, text: '<html>Log in</html>', headers: { 'content-type': 'text/html' } });
    const states: string[] = [];
    const onConnection = (state: string) => states.push(state);
    const events = client.chat.stream({ message: 'Hello.' }, { onConnection })[Symbol.asyncIterator]();
    await expect(events.next()).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('proxy'),
    });
    expect(server.seen).toHaveLength(4);
    expect(states).not.toContain('live');
  });

  test('[S10] a refused token is renewed once, and the request sent again with the new one', async () => {
    let asked = 0;
    const token = async () => `token-${++asked}`;
    const own = createClient({ url: server.url, auth: { token } });
    server.treat(refused(401, 'token_expired'), OK);
    await own.spaces.create({ name: 'S' });
    await own.spaces.list();
    const bearers = server.seen.map(({ headers }) => headers.authorization);
    expect(bearers).toEqual(['Bearer token-1', 'Bearer token-2', 'Bearer token-2']);
    server.treat(refused(401, 'unauthorized'));
    await expect(own.spaces.list()).rejects.toMatchObject({ status: 401 });
    expect(server.seen).toHaveLength(2);
  });

  test('an error says when to come back, also if a proxy named a date', async () => {
    const named = { '120': 120_000, [new Date(Date.now() + 120_000).toUTCString()]: 120_000, soon: undefined };
    for (const [after, ms] of Object.entries(named)) {
      server.treat({ status: 503, text: '<html>Try later</html>', headers: { 'retry-after': after } });
      const once = createClient({ url: server.url, auth: 'none', attempts: 1 });
      const { retryAfterMs } = (await once.runs.list().catch((error: ClientError) => error)) as ClientError;
      if (ms === undefined) expect(retryAfterMs).toBeUndefined();
      else expect(Math.abs((retryAfterMs ?? 0) - ms)).toBeLessThan(60_000);
    }
  });

  test('a gateway that asks to come back in years is not asked again at once', async () => {
    server.treat({ status: 503, text: '<html>Gone</html>', headers: { 'retry-after': '99999999999' } }, OK);
    const before = server.seen.length;
    const abort = new AbortController();
    const patient = createClient({ url: server.url, auth: 'none' });
    const listing = patient.runs.list({}, { signal: abort.signal });
    await vi.waitUntil(() => server.seen.length > before);
    await sleep(50);
    abort.abort(new Error('Enough.'));
    await expect(listing).rejects.toThrow('Enough.');
    expect(server.seen.length).toBe(before + 1);
  });

  test('a request that is aborted is not sent again', async () => {
    const abort = new AbortController();
    const slow = createClient({ url: server.url, auth: { key: 'k' }, backoff: { firstMs: 60_000 } });
    server.treat('cut');
    const listing = slow.spaces.list({}, { signal: abort.signal });
    await expect.poll(() => server.seen.length).toBe(1);
    abort.abort(new Error('Enough.'));
    await expect(listing).rejects.toThrow('Enough.');
    expect(server.seen).toHaveLength(1);
  });
});
