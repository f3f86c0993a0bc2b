import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GatewayProcess } from '../../gateway/test/processes/gateway-process.ts';
import { type Client, createClient, type SpaceEvent } from '../src/index.ts';
import { startRoughProxy } from './support/rough-proxy.ts';

const KEY = 'a-key-for-the-tests-of-the-client';

/** The demo in a process that can be killed and started again at the same address with the same data. */
class Desk implements AsyncDisposable {
  readonly port: number;
  readonly client: Client;
  readonly #home: string;
  #gateway: GatewayProcess | undefined;

  private constructor(port: number, home: string) {
    this.port = port;
    this.#home = home;
    this.client = createClient({ url: `http://127.0.0.1:${port}`, auth: { key: KEY }, attempts: 20 });
  }

  static async open(): Promise<Desk> {
    const desk = new Desk(await freePort(), await mkdtemp(join(tmpdir(), 'lastcall-client-')));
    await desk.start();
    return desk;
  }

  async start(): Promise<void> {
    const env = { PORT: String(this.port), LASTCALL_HOME: join(this.#home, 'home'), LASTCALL_SECRET_KEY: KEY };
    this.#gateway = await GatewayProcess.start({ name: 'desk', folder: this.#home, env });
  }

  async kill(): Promise<void> {
    await this.#gateway?.kill();
  }

  async place(): Promise<{ spaceId: string; entityId: string }> {
    const [space] = (await this.client.spaces.list()).items;
    const { items } = await this.client.spaces.members(space?.id ?? '');
    return { spaceId: space?.id ?? '', entityId: items.find(({ kind }) => kind === 'human')?.entityId ?? '' };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#home, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Reads until the message with this text and the end of the run that it caused. */
async function readUntil(events: AsyncIterable<SpaceEvent>, text: string): Promise<SpaceEvent[]> {
  const all: SpaceEvent[] = [];
  let isSaid = false;
  for await (const event of events) {
    all.push(event);
    isSaid ||= event.type === 'message.complete' && event.message.text === text;
    if (isSaid && event.type === 'agent.inactive') break;
  }
  return all;
}

const LAST = 'That is all.';

// Each test starts a gateway, and one starts it twice.
describe('streams over connections that break', { timeout: 180_000 }, () => {
  test('[S10] each event comes once and in order, over cut connections and a gateway that is killed and slow', async () => {
    await using desk = await Desk.open();
    await using proxy = await startRoughProxy(desk.port);
    const { spaceId, entityId } = await desk.place();
    const rough = createClient({ url: proxy.url, auth: { key: KEY }, backoff: { firstMs: 5, maxMs: 50 } });
    // Also in the headers of the response, and in the middle of an event.
    let cuts = 0;
    proxy.cutAfter(() => 300 + ((++cuts * 797) % 5_000));
    const states: string[] = [];
    const reading = readUntil(
      rough.spaces.stream(spaceId, { after: 0, onConnection: (state) => states.push(state) }),
      LAST,
    );
    for (let count = 1; count <= 6; count++) {
      await desk.client.spaces.say(spaceId, { entityId, text: `Message ${count}: 日本 🙂` });
      if (count === 2) {
        await desk.kill();
        await desk.start();
      }
      if (count === 4) proxy.trickle(256);
      if (count === 6) proxy.trickle(undefined);
    }
    await desk.client.spaces.say(spaceId, { entityId, text: LAST });
    const events = await reading;
    const stored = await readUntil(desk.client.spaces.stream(spaceId, { after: 0 }), LAST);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
    expect(events).toEqual(stored);
    expect(proxy.connections).toBeGreaterThan(5);
    expect(states[0]).toBe('connecting');
    expect(new Set(states)).toEqual(new Set(['connecting', 'live', 'waiting']));
  });

  test('[S10] a connection that falls silent is given up, and the stream continues on another', async () => {
    await using desk = await Desk.open();
    await using proxy = await startRoughProxy(desk.port);
    const { spaceId, entityId } = await desk.place();
    const rough = createClient({
      url: proxy.url,
      auth: { key: KEY },
      silenceMs: 500,
      backoff: { firstMs: 5, maxMs: 50 },
    });
    const isLive = Promise.withResolvers<void>();
    const onConnection = (state: string) => void (state === 'live' && isLive.resolve());
    // From the current position: a client that is cut off before the first event must not miss it.
    const reading = readUntil(rough.spaces.stream(spaceId, { onConnection }), LAST);
    await isLive.promise;
    proxy.freeze();
    await desk.client.spaces.say(spaceId, { entityId, text: LAST });
    const events = await reading;
    const [first] = events;
    expect(first).toMatchObject({ type: 'message.complete', message: { text: LAST } });
    const after = (first?.seq ?? 0) - 1;
    expect(events).toEqual(await readUntil(desk.client.spaces.stream(spaceId, { after }), LAST));
  });

  test('[S10] a token that expires is renewed, and the stream continues where it was', async () => {
    await using desk = await Desk.open();
    const { spaceId, entityId } = await desk.place();
    const tokens: string[] = [];
    const token = async () => {
      tokens.push((await desk.client.entities.token(entityId, { expiresInSeconds: 3 })).token);
      return tokens.at(-1) ?? '';
    };
    const person = createClient({
      url: `http://127.0.0.1:${desk.port}`,
      auth: { token },
      backoff: { firstMs: 5, maxMs: 50 },
    });
    const reading = readUntil(person.spaces.stream(spaceId, { after: 0 }), LAST);
    await expect.poll(() => tokens.length).toBeGreaterThan(1);
    await desk.client.spaces.say(spaceId, { entityId, text: LAST });
    expect(await reading).toEqual(await readUntil(desk.client.spaces.stream(spaceId, { after: 0 }), LAST));
  });

  test('a stream ends with its signal, and fails at once if the space does not exist', async () => {
    await using desk = await Desk.open();
    const { spaceId } = await desk.place();
    const abort = new AbortController();
    const events = desk.client.spaces.stream(spaceId, { signal: abort.signal })[Symbol.asyncIterator]();
    const next = events.next();
    abort.abort();
    expect(await next).toMatchObject({ done: true });
    const missing = desk.client.spaces.stream('none')[Symbol.asyncIterator]();
    await expect(missing.next()).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });
});
