import { expect, test } from 'vitest';
import { type Client, ClientError, createClient } from '../src/index.ts';
import { startCountingServer } from './support/counting-server.ts';

const never = (): Promise<string> => new Promise(() => {});

test('a request that waits for its token ends with timeoutMs or its signal, and says that the token is missing', async () => {
  const client = createClient({ url: 'http://gateway', auth: { token: never }, timeoutMs: 20, attempts: 1 });
  await expect(client.runs.list()).rejects.toMatchObject({
    code: 'unreachable',
    message: 'The token function of the client did not answer in time.',
  });
  const abort = new AbortController();
  const patient = createClient({ url: 'http://gateway', auth: { token: never } });
  const listing = patient.runs.list({}, { signal: abort.signal });
  const next = patient.spaces.stream('s', { signal: abort.signal })[Symbol.asyncIterator]().next();
  abort.abort(new Error('Enough.'));
  await expect(listing).rejects.toThrow('Enough.');
  expect(await next).toMatchObject({ done: true });
});

test('a token function that fails is named, and called again unless it throws a ClientError with a code of its own', async () => {
  let calls = 0;
  const failing = (error: Error): Client => {
    calls = 0;
    const token = async (): Promise<string> => {
      calls += 1;
      throw error;
    };
    return createClient({ url: 'http://gateway', auth: { token }, attempts: 3, backoff: { firstMs: 1 } });
  };
  await expect(failing(new TypeError('fetch failed')).runs.list()).rejects.toMatchObject({
    code: 'unreachable',
    message: 'The token function of the client failed: fetch failed',
    cause: new TypeError('fetch failed'),
  });
  expect(calls).toBe(3);
  const signedOut = new ClientError('signed_out', 'Sign in again.');
  const client = failing(signedOut);
  await expect(client.runs.list()).rejects.toBe(signedOut);
  expect(calls).toBe(1);
  await expect(client.spaces.stream('s')[Symbol.asyncIterator]().next()).rejects.toBe(signedOut);
  expect(calls).toBe(2);
});

test('a token function that once gave no token in time is called again', async () => {
  await using server = await startCountingServer();
  server.treat({ status: 200, body: { items: [] } });
  let calls = 0;
  const token = (): Promise<string> => (++calls === 1 ? never() : Promise.resolve('a-token'));
  const client = createClient({ url: server.url, auth: { token }, timeoutMs: 200, backoff: { firstMs: 1 } });
  expect(await client.runs.list()).toEqual({ items: [] });
  expect(new Set(server.seen.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer a-token']));
  expect(calls).toBe(2);
});

test('a request that is given up while it waits for the token does not take it from the others', async () => {
  const token = Promise.withResolvers<string>();
  let calls = 0;
  const ask = (): Promise<string> => {
    calls += 1;
    return token.promise;
  };
  const gateway: typeof fetch = async () => Response.json({ items: [] });
  const client = createClient({ url: 'http://gateway', auth: { token: ask }, fetch: gateway });
  const abort = new AbortController();
  const left = client.runs.list({}, { signal: abort.signal });
  const waiting = client.runs.list();
  abort.abort(new Error('Enough.'));
  await expect(left).rejects.toThrow('Enough.');
  const late = client.runs.list();
  token.resolve('a-token');
  expect(await Promise.all([waiting, late])).toEqual([{ items: [] }, { items: [] }]);
  expect(calls).toBe(1);
});

test('requests that are refused for the same token get one new token together, also those that are refused late', async () => {
  let [calls, valid] = [0, 'token-1'];
  const token = async (): Promise<string> => `token-${++calls}`;
  const first = Promise.withResolvers<void>();
  const gateway: typeof fetch = async (url, init) => {
    if (new Headers(init?.headers).get('authorization') === `Bearer ${valid}`) return Response.json({ items: [] });
    if (String(url).endsWith('/api/spaces')) await first.promise;
    return Response.json({ error: { code: 'token_expired', message: 'Get a new token.' } }, { status: 401 });
  };
  const client = createClient({ url: 'http://gateway', auth: { token }, fetch: gateway });
  await client.runs.list();
  valid = 'token-2';
  const late = client.spaces.list();
  await client.runs.list();
  first.resolve();
  await late;
  expect(calls).toBe(2);
});
