import { expect, test } from 'vitest';
import { createClient, everyItem } from '../src/index.ts';
import { startCountingServer } from './support/counting-server.ts';

test('a gateway behind a proxy is reached below the path of its address', async () => {
  await using server = await startCountingServer();
  server.treat({ status: 200, body: { status: 'ok' } });
  await createClient({ url: `${server.url}/agents/`, auth: { key: 'k' } }).runs.get('r 1');
  expect(server.seen.map(({ path }) => path)).toEqual(['/agents/api/runs/r%201']);
});

test.each(['not a url', 'localhost:4100', '/agents', ''])(
  'a client with the address "%s" is refused when it is made',
  (url) => {
    expect(() => createClient({ url, auth: 'none' })).toThrow(`http://127.0.0.1:4100 does. "${url}" does not.`);
  },
);

test.each([[{ key: undefined }], [{ token: undefined }], [{}], [undefined], ['sesion']])(
  'a client with the credentials %j is refused when it is made',
  (auth) => {
    const create = createClient as (options: object) => unknown;
    expect(() => create({ url: 'http://127.0.0.1:4100', auth })).toThrow(
      /^The auth of a client must be \{ key: '…' \}/,
    );
  },
);

test('without a key no credentials are sent', async () => {
  await using server = await startCountingServer();
  server.treat({ status: 200, body: { status: 'ok' } });
  expect(await createClient({ url: server.url, auth: 'none' }).status.health()).toEqual({ status: 'ok' });
  expect(server.seen).toMatchObject([{ path: '/health' }]);
  expect(server.seen[0]?.headers.authorization).toBeUndefined();
});

test('[O1] a client with a project names it in every request', async () => {
  await using server = await startCountingServer();
  server.treat({ status: 200, body: { items: [] } }, { status: 200, body: { items: [] } });
  await createClient({ url: server.url, auth: { key: 'k' }, project: 'acme' }).projects.list();
  await createClient({ url: server.url, auth: { key: 'k' } }).projects.list();
  expect(server.seen.map(({ headers }) => headers['lastcall-project'])).toEqual(['acme', undefined]);
});

test('a request for which the client has no method is sent once, with its query and body', async () => {
  await using server = await startCountingServer();
  const { request } = createClient({ url: server.url, auth: { key: 'k' } });
  server.treat({ status: 200, body: { made: true } });
  expect(await request('POST /api/things', { query: { kind: 'new' }, body: { name: 'a' } })).toEqual({ made: true });
  expect(server.seen).toMatchObject([{ method: 'POST', path: '/api/things?kind=new', body: { name: 'a' } }]);
  server.treat('cut');
  await expect(request('GET /api/things')).rejects.toMatchObject({ code: 'unreachable' });
  expect(server.seen).toHaveLength(1);
});

test('a request that its caller aborts is rejected with the reason of the abort, also if it cannot be repeated', async () => {
  const bothSent = Promise.withResolvers<void>();
  let sent = 0;
  const silent: typeof fetch = (_url, init) =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      if (++sent === 2) bothSent.resolve();
    });
  const { spaces, runs } = createClient({ url: 'http://127.0.0.1:1', auth: 'none', fetch: silent });
  const reason = new Error('The user has left the page.');
  const leaving = new AbortController();
  const { signal } = leaving;
  const pending = [spaces.get('s', { signal }), runs.cancel('r', { signal })].map((one) => one.catch((error) => error));
  await bothSent.promise;
  leaving.abort(reason);
  expect(await Promise.all(pending)).toEqual([reason, reason]);
});

test('a chat request is given up after timeoutMs of the client, like every other request', async () => {
  const silent: typeof fetch = (_url, init) =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  const client = createClient({ url: 'http://gateway', auth: 'none', fetch: silent, timeoutMs: 20, attempts: 1 });
  const late = { code: 'unreachable', message: 'The gateway did not answer in time.' };
  await expect(client.runs.list()).rejects.toMatchObject(late);
  await expect(client.chat.send({ message: 'Hello.' })).rejects.toMatchObject(late);
  await expect(client.chat.invoke({ context_id: 'c' })).rejects.toMatchObject(late);
  await expect(client.chat.addAiMessage({ message: 'Hello.' })).rejects.toMatchObject(late);
});

test('all items of a list are read page by page, until there are as many as were asked for', async () => {
  const asked: unknown[] = [];
  const read = async (page: { cursor?: string }) => {
    asked.push(page.cursor);
    const at = Number(page.cursor ?? 0);
    return at === 4 ? { items: [at, at + 1] } : { items: [at, at + 1], next: String(at + 2) };
  };
  expect(await everyItem(read)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(asked).toEqual([undefined, '2', '4']);
  expect(await everyItem(read, { most: 3 })).toEqual([0, 1, 2, 3]);
  expect(await everyItem(read, { most: 2 })).toEqual([0, 1]);
});

test("a proxy's page in place of an answer says where to look, and a write is not sent again for it", async () => {
  await using server = await startCountingServer();
  const client = createClient({ url: server.url, auth: { key: 'k' } });
  server.treat({ status: 200, text: '<html>Log in</html>', headers: { 'content-type': 'text/html' } });
  await expect(client.agents.create({ name: 'A', config: { instructions: 'A.' } } as never)).rejects.toMatchObject({
    code: 'unreachable',
    message: "The answer is not a gateway's JSON. Check the URL and the proxy.",
  });
  expect(server.seen).toHaveLength(1);
});

test('a reader that leaves an export ends its connection', async () => {
  let isCancelled = false;
  const gateway: typeof fetch = async () => {
    const said = new TextEncoder().encode('{"kind":"entity"}\n{"kind":"message"}\n');
    const cancel = (): void => {
      isCancelled = true;
    };
    return new Response(new ReadableStream({ start: (controller) => controller.enqueue(said), cancel }));
  };
  const client = createClient({ url: 'http://gateway', auth: 'none', fetch: gateway });
  for await (const line of client.entities.export('e')) {
    expect(line).toEqual({ kind: 'entity' });
    break;
  }
  expect(isCancelled).toBe(true);
});
