import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { GatewayLimits } from '../../src/config/limits.ts';
import { waitFor } from '../../src/testing/wait-for.ts';
import { listen } from '../../src/transport/http/server.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { onSqlite } from '../support/stores.ts';
import { type Api, openApi } from './api.ts';

interface Server {
  readonly api: Api;
  readonly url: string;
}

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

describe('[G65] shares of one gateway behind a socket', () => {
  const database = forAllTests(onSqlite.create);
  const store = forAllTests(async () => {
    const api = await openApi(database);
    return { api, close: () => api.close() };
  });

  /** A gateway with small limits that trusts this machine as its proxy, so that a test can use several client addresses. */
  async function start(limits: Partial<GatewayLimits> = {}): Promise<Server> {
    const { services: common } = store.api;
    const services = { ...common, limits: { ...common.limits, ...limits } };
    const api = await openApi(database, { services, trustedProxies: ['127.0.0.1'] });
    const server = await listen(api.app, { port: 0, logger: common.logger });
    opened.push(async () => {
      api.app.stop();
      await server.close({ graceMs: 100 });
    });
    return { api, url: server.url };
  }

  interface Sent {
    readonly secret?: string;
    readonly from?: string;
    readonly path?: string;
    /** The announced length of the body, and the part of it that is sent. */
    readonly announced?: number;
    readonly body?: string;
  }

  /** Sends a request, whose body may be incomplete. */
  function send(url: string, { secret, from, path = '/api/entities', announced = 1_000, body = '{' }: Sent): Exchange {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    opened.push(() => void socket.destroy());
    socket.on('error', () => {});
    const head = [
      `POST ${path} HTTP/1.1`,
      `Host: ${new URL(url).host}`,
      'Content-Type: application/json',
      `Content-Length: ${announced}`,
      `Origin: ${url}`,
      'Sec-Fetch-Site: same-origin',
      ...(secret === undefined ? [] : [`Authorization: Bearer ${secret}`]),
      ...(from === undefined ? [] : [`X-Forwarded-For: ${from}`]),
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    return new Exchange(socket);
  }

  const person = JSON.stringify({ kind: 'human', displayName: 'Ada' });
  const rest = person.slice(1).padEnd(999);

  test('[G65] 150 half-sent bodies without a valid key are answered 401 before they are read, and their connections are closed', async () => {
    const { url } = await start();
    const half = 'x'.repeat(600_000);
    const secrets = [undefined, 'lc_sk_wrong', 'a.b.c'];
    const exchanges = Array.from({ length: 150 }, (_, at) => {
      // Each from a different address, so that the limit of wrong keys does not apply.
      const secret = secrets[at % secrets.length];
      return send(url, { announced: 900_000, body: half, from: `10.0.0.${at}`, ...(secret ? { secret } : {}) });
    });
    for (const exchange of exchanges) expect(await exchange.status()).toBe(401);
    for (const exchange of exchanges) await exchange.closed();
  });

  test('[G65] the body of a caller who may not send it is not read: 403 for a key that may only read and for a token', async () => {
    const { api, url } = await start();
    expect(await send(url, { secret: await api.keyWith('read') }).status()).toBe(403);
    const ada = await api.person();
    expect(await send(url, { secret: await api.tokenOf(ada) }).status()).toBe(403);
  });

  test('[G65] a caller has a share of the bodies that are read at once, and others are served', async () => {
    const { api, url } = await start({ bodiesPerCaller: 2 });
    const [busy, other] = [await api.keyWith('write'), await api.keyWith('write')];
    const { refused, halves } = await refusedOf([1, 2, 3].map(() => send(url, { secret: busy })));
    expect(await refused.status()).toBe(429);
    expect(await refused.body()).toMatchObject({
      error: { code: 'too_many_bodies', details: { share: 'caller', limit: 2 } },
    });
    expect(refused.text).toMatch(/retry-after: 1\r\n/i);
    expect(refused.text).toContain('limits.bodiesPerCaller');
    const third = send(url, { secret: other });
    third.socket.write(rest);
    expect(await third.status()).toBe(201);
    // A complete body takes no place, even of this caller.
    const whole = send(url, { secret: busy, announced: person.length, body: person });
    expect(await whole.status()).toBe(201);
    for (const half of halves) half.socket.write(rest);
    for (const half of halves) expect(await half.status()).toBe(201);
    const again = send(url, { secret: busy });
    again.socket.write(rest);
    expect(await again.status()).toBe(201);
  });

  test('[G65] an address has a share of the bodies that are read at once, and other addresses are served', async () => {
    const { api, url } = await start({ bodiesPerAddress: 2 });
    const [one, two] = [await api.keyWith('write'), await api.keyWith('write')];
    const from = '198.51.100.7';
    const { refused, halves } = await refusedOf([one, two, one].map((secret) => send(url, { secret, from })));
    expect(await refused.status()).toBe(429);
    expect(await refused.body()).toMatchObject({ error: { details: { share: 'address', limit: 2 } } });
    const elsewhere = send(url, { secret: one, from: '198.51.100.8' });
    elsewhere.socket.write(rest);
    expect(await elsewhere.status()).toBe(201);
    for (const half of halves) half.socket.destroy();
    // A connection that is cut releases its place.
    const served = async (): Promise<boolean> => {
      const next = send(url, { secret: one, from });
      next.socket.write(rest);
      return (await next.status()) === 201;
    };
    expect(await waitFor(served)).toBe(true);
  });

  test('[G65] a body that does not arrive in time is refused with 408, and its connection is closed', async () => {
    const { api, url } = await start({ bodyTimeoutMs: 50 });
    const late = send(url, { secret: api.key });
    expect(await late.status()).toBe(408);
    expect(await late.body()).toMatchObject({ error: { code: 'body_timeout', details: { limit: 50 } } });
    await late.closed();
  });

  test('[G65] without a key bodies must be small, and half-sent ones take no places of callers with a key', async () => {
    const { api, url } = await start({ bodies: 3, bodiesPerCaller: 2, bodiesPerAddress: 3 });
    const path = '/api/session';
    expect(await send(url, { path, announced: 20_000 }).status()).toBe(413);
    const { refused, halves } = await refusedOf([1, 2, 3].map(() => send(url, { path })));
    expect(await refused.status()).toBe(429);
    expect(await refused.body()).toMatchObject({ error: { code: 'too_many_bodies', details: { share: 'address' } } });
    const known = [1, 2].map(() => send(url, { secret: api.key }));
    for (const one of known) one.socket.write(rest);
    for (const one of known) expect(await one.status()).toBe(201);
    // A sign-in fits into one packet: it takes no place either.
    const body = JSON.stringify({ key: api.key });
    expect(await send(url, { path, announced: body.length, body }).status()).toBe(201);
    for (const half of halves) half.socket.destroy();
  });

  test('[G65] a token has a share of the streams, and the rest is left to other callers', async () => {
    const { api, url } = await start({ connections: 6, connectionsPerCaller: 2 });
    const [ada, ben] = [await api.person(), await api.person('Ben')];
    const space = await api.space(ada, ben);
    const open = (secret: string, headers: Record<string, string> = {}): Promise<Response> =>
      openStream(`${url}/api/spaces/${space}/stream`, { authorization: `Bearer ${secret}`, ...headers });
    // A second token of the same person is the same caller.
    const tokens = [await api.tokenOf(ada, 600), await api.tokenOf(ada, 700)];
    for (const token of tokens) expect((await open(token)).status).toBe(200);
    const refused = await open(tokens[0] ?? '');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    const { error } = (await refused.json()) as { error: { code: string; message: string; details: object } };
    expect(error).toMatchObject({ code: 'too_many_streams', details: { share: 'caller', limit: 2 } });
    expect(error.message).toContain('limits.connectionsPerCaller');
    expect((await open(await api.tokenOf(ben))).status).toBe(200);
    expect((await open(api.key)).status).toBe(200);
  });

  test('[G65] an address has a share of the streams, which tokens without end cannot exceed', async () => {
    const { api, url } = await start({ connections: 6, connectionsPerCaller: 2, connectionsPerAddress: 3 });
    const people = await Promise.all(['A', 'B', 'C', 'D'].map((name) => api.person(name)));
    const space = await api.space(...people);
    const open = async (at: number, from: string): Promise<number> => {
      const authorization = `Bearer ${await api.tokenOf(people[at] ?? '')}`;
      const stream = await openStream(`${url}/api/spaces/${space}/stream`, { authorization, 'x-forwarded-for': from });
      return stream.status;
    };
    const hostile = '203.0.113.9';
    expect([await open(0, hostile), await open(1, hostile), await open(2, hostile)]).toEqual([200, 200, 200]);
    expect(await open(3, hostile)).toBe(429);
    expect(await open(3, '203.0.113.10')).toBe(200);
  });

  async function openStream(url: string, headers: Record<string, string>): Promise<Response> {
    const leaving = new AbortController();
    opened.push(() => leaving.abort());
    return await fetch(url, { headers, signal: leaving.signal });
  }

  /** Half-sent requests are answered only if they are refused: of one request more than places, that is the one without a place. */
  async function refusedOf(
    exchanges: readonly Exchange[],
  ): Promise<{ refused: Exchange; halves: readonly Exchange[] }> {
    const refused = await Promise.race(exchanges.map((one) => one.status().then(() => one)));
    return { refused, halves: exchanges.filter((one) => one !== refused) };
  }
});

/** The response on a socket. */
class Exchange {
  readonly socket: Socket;
  text = '';
  readonly #closed: Promise<unknown>;
  #progress = Promise.withResolvers<void>();

  constructor(socket: Socket) {
    this.socket = socket;
    this.#closed = once(socket, 'close');
    socket.on('data', (chunk: Buffer) => {
      this.text += chunk.toString();
      this.#progress.resolve();
      this.#progress = Promise.withResolvers();
    });
  }

  async status(): Promise<number> {
    while (!this.text.includes('\r\n\r\n')) await this.#progress.promise;
    return Number(/^HTTP\/1\.1 (\d{3}) /.exec(this.text)?.[1]);
  }

  async body(): Promise<unknown> {
    await this.status();
    while (!this.text.endsWith('}')) await this.#progress.promise;
    return JSON.parse(this.text.slice(this.text.indexOf('\r\n\r\n')));
  }

  async closed(): Promise<void> {
    await this.#closed;
  }
}
