import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { endpoint } from '../../src/transport/http/endpoint.ts';
import { type HttpServer, listen } from '../../src/transport/http/server.ts';
import { readEventStream } from '../streams/event-stream.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { memoryInUse } from '../support/memory.ts';
import { onSqlite } from '../support/stores.ts';
import { openApi } from './api.ts';

describe('the API behind a socket', () => {
  const database = forAllTests(onSqlite.create);
  const limits = { bodyBytes: 100_000, streamStallMs: 2_000 };
  const api = forAllTests(() => openApi(database, { heartbeatMs: 50, limits }));
  const server = forAllTests(async () => {
    const { url, close } = await listen(api.app, { port: 0, logger: api.services.logger });
    const stop = async (): Promise<void> => {
      api.app.stop();
      await close({ graceMs: 100 });
    };
    return { url, stop };
  });

  const authorization = (): { authorization: string } => ({ authorization: `Bearer ${api.key}` });

  /** The response to bytes that no client library would send. */
  async function exchange(lines: string): Promise<string> {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.end(lines.replaceAll('\n', '\r\n'));
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  }

  test('[G55] it listens on loopback by default', () => {
    expect(new URL(server.url).hostname).toBe('127.0.0.1');
  });

  test('requests and responses are passed on', async () => {
    const response = await fetch(`${server.url}/api/entities`, {
      method: 'POST',
      headers: { ...authorization(), 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'human', displayName: 'Ada' }),
    });
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ displayName: 'Ada' });
  });

  test('[G53] a body that is announced too large is refused without being sent', async () => {
    const head = `POST /api/entities HTTP/1.1\nHost: x\nAuthorization: Bearer ${api.key}\nContent-Type: application/json\n`;
    const answer = await exchange(`${head}Content-Length: 999999999\nConnection: close\n\n{`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('body_too_large');
  });

  test('[G54] a malformed request is refused in the usual shape', async () => {
    const answer = await exchange('GET /health HTTP/1.1\nHost: ///\nConnection: close\n\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('{"error":{"code":"bad_request"');
    expect(await exchange('TRACE /api/agents HTTP/1.1\nHost: x\nConnection: close\n\n')).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  test('[G45] streams are sent at once, and end on the server when the client disconnects', async () => {
    const ada = await api.person();
    const space = await api.space(ada);
    const controller = new AbortController();
    const stream = readEventStream(
      await fetch(`${server.url}/api/spaces/${space}/stream`, { headers: authorization(), signal: controller.signal }),
    );
    await api.done('POST', `/api/spaces/${space}/messages`, { entityId: ada, text: 'over the wire' });
    expect((await stream.next())?.data.message.text).toBe('over the wire');
    expect(await api.app.metrics.render()).toContain('lastcall_open_streams 1');
    controller.abort();
    await expect.poll(() => api.app.metrics.render()).toContain('lastcall_open_streams 0');
  });

  test('[G49] a client that stops reading is cut off, and its connection with it', async () => {
    const ada = await api.person();
    const space = await api.space(ada);
    const socket = await openRaw(`/api/spaces/${space}/stream`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1\.1 200 /);
    socket.pause();
    const closed = once(socket, 'close');
    // More than the system buffers on both sides hold, so that some of it stays in the server.
    for (let sent = 0; sent < 20; sent++) await report(space, 1_000_000);
    await expect
      .poll(() => api.app.metrics.render(), { timeout: 30_000 })
      .toMatch(/streams_closed_total\{why="slow"\} 1/);
    let last = '';
    socket.on('data', (chunk: Buffer) => void (last = `${last}${chunk.toString()}`.slice(-10)));
    socket.resume();
    await closed;
    // Cut off: a response that ended normally would have waited for the client, and kept its connection open.
    expect(last).not.toMatch(/0\r\n\r\n$/);
  });

  test('[G49] a client that keeps reading is never cut off, however large a single output is', async () => {
    const space = await api.space();
    const closedBefore = closedSlow(await api.app.metrics.render());
    const socket = await openRaw(`/api/spaces/${space}/stream`);
    const reading = readSteadily(socket, 'the last of it');
    await expect.poll(() => api.app.metrics.render()).toContain('lastcall_open_streams 1');
    // Together far more than the limit of buffered bytes, and most are larger than the limit alone.
    for (const size of [5_000_000, 10, 5_000_000, 600_000, 600_000, 5_000_000]) await report(space, size);
    await report(space, 'the last of it');
    const text = await reading;
    const sizes = Array.from(text.matchAll(/^data: (.*)$/gm), ([, data]) => JSON.parse(data ?? '').value.length);
    expect(sizes).toEqual([5_000_000, 10, 5_000_000, 600_000, 600_000, 5_000_000, 14]);
    expect(closedSlow(await api.app.metrics.render())).toBe(closedBefore);
    socket.destroy();
  });

  test('[G49] clients that stop reading do not grow the memory of the server', async () => {
    const patient = await openApi(database, { services: api.services, limits: { streamStallMs: 1_000_000 } });
    const second = await listen(patient.app, { port: 0, logger: api.services.logger });
    const space = await api.space();
    const sockets = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const socket = await openRaw(`/api/spaces/${space}/stream`, second);
        await once(socket, 'data');
        return socket.pause();
      }),
    );
    const before = await memoryInUse();
    // 3 GB if each client had its own copy.
    for (let sent = 0; sent < 100; sent++) await report(space, 1_000_000);
    expect((await memoryInUse()) - before).toBeLessThan(100_000_000);
    for (const socket of sockets) socket.destroy();
    patient.app.stop();
    await second.close({ graceMs: 100 });
  });

  /** Emits the progress of a tool to the stream of the space. */
  async function report(space: string, value: number | string): Promise<void> {
    const payload = { callId: 'c', value: typeof value === 'string' ? value : 'x'.repeat(value) };
    await api.store.transaction(async (tx) =>
      tx.emit({ stream: spaceStream(space), type: 'tool-call.progress', payload }),
    );
    // Transactions in memory would not let the event loop handle the sockets.
    await setImmediate();
  }

  /** Reads with short pauses until `end` has arrived. Removes the chunk sizes of HTTP. */
  async function readSteadily(socket: Socket, end: string): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of socket) {
      chunks.push(chunk as Buffer);
      // The end may arrive in two parts.
      if (Buffer.concat(chunks.slice(-2)).includes(end)) break;
      await sleep(2);
    }
    return Buffer.concat(chunks)
      .toString()
      .replaceAll(/\r\n[\da-f]+\r\n/g, '');
  }

  function closedSlow(metrics: string): string | undefined {
    return /streams_closed_total\{why="slow"\} (\d+)/.exec(metrics)?.[1];
  }

  async function openRaw(path: string, at: Pick<HttpServer, 'url'> = server): Promise<Socket> {
    const socket = connect(Number(new URL(at.url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.key}\r\n\r\n`);
    return socket;
  }

  test('closing lets requests finish, ends streams, and accepts no more', async () => {
    const other = await openApi(database, { services: api.services, heartbeatMs: 50 });
    const second = await listen(other.app, { port: 0, logger: api.services.logger });
    const space = await api.space();
    const stream = readEventStream(
      await fetch(`${second.url}/api/spaces/${space}/stream`, { headers: authorization() }),
    );
    await stream.heartbeat();
    other.app.stop();
    // A connection that is kept alive would delay the end until the grace time is over.
    await second.close({ graceMs: 1_000_000 });
    expect(await stream.rest()).toEqual([]);
    await expect(fetch(`${second.url}/health`)).rejects.toThrow();
  });

  test('[G42] closing does not wait for the client of a stream that reads nothing, nor for an idle connection', async () => {
    const endless = endpoint({
      method: 'get',
      path: '/endless',
      summary: 'More than the buffers of both sides hold.',
      access: 'anyone',
      answer: 'text/event-stream',
      respond: () => new Response('x'.repeat(50_000_000), { headers: { 'content-type': 'text/event-stream' } }),
    });
    const other = await openApi(database, { services: api.services, endpoints: [endless] });
    const second = await listen(other.app, { port: 0, logger: api.services.logger });
    const port = Number(new URL(second.url).port);
    const [silent, stalled] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    for (const socket of [silent, stalled]) socket.on('error', () => {});
    stalled.write('GET /endless HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(stalled, 'readable');
    other.app.stop();
    await second.close({ graceMs: 1_000_000 });
    for (const socket of [silent, stalled]) socket.destroy();
  });

  test('an address that is in use is an error', async () => {
    const port = Number(new URL(server.url).port);
    await expect(listen(api.app, { port, logger: api.services.logger })).rejects.toMatchObject({
      code: 'listen_refused',
      cause: { code: 'EADDRINUSE' },
    });
  });
});
