import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { answerText, doDuties, dutiesOf, inSpace } from './answering.ts';
import { SECRET_KEY } from './api.ts';
import { type Crew, openCrew, twoGateways } from './crew.ts';
import type { GatewayProcess } from './gateway-process.ts';
import type { LoopbackModel } from './loopback-model.ts';
import type { ModelRequest } from './model-request.ts';
import { findPlace, say } from './site.ts';
import { until } from './until.ts';

/** Longer than anything waits for it. */
const LONG_GRACE_MS = '600000';

/** So long that no takeover is caused by an expired lease, only by a release. */
const LONG_LEASE_MS = 600_000;

describe.each(twoGateways)('gateways on $kind: one gets a stop signal', { concurrent: true }, ({ kind }) => {
  test('[G42] longer work is left as it is, the process ends with 0, and another continues at once', async () => {
    const asked = Promise.withResolvers<string>();
    let stopped = false;
    await using crew = await openCrew({
      kind,
      leaseMs: LONG_LEASE_MS,
      env: { TEST_GRACE_MS: '300' },
      async decide(request) {
        // After the first step, which is not repeated.
        if (request.agent !== 'Anna' || request.newCalls.length === 0 || stopped) return doDuties(request);
        asked.resolve(request.gateway);
        return await new Promise<never>(() => {});
      },
    });
    await say(crew.first.url, 'North', 'Anna: charge m1');
    const gateway = crew.named(await asked.promise);
    stopped = true;
    gateway.send('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    await crew.answered('m1');
    expect(await crew.problems()).toEqual([]);
    expect(await crew.site.effects()).toHaveLength(1);
  });

  test('[G42] [G57] a payment that takes longer is cut off, is not repeated automatically, and its result says that it may have taken effect', async () => {
    await using stopped = await stopInside(kind, ['charge']);
    const { crew } = stopped;
    await crew.answered('m1');
    expect(await crew.problems()).toEqual([]);
    expect(await crew.site.effects()).toHaveLength(1);
    const [charge] = lastCallsOf(crew.site.model);
    expect(charge).toMatchObject({ name: 'charge', result: expect.stringMatching(/may have taken effect/i) });
    expect(charge?.result).not.toMatch(/nothing/i);
  });

  test('[G57] an idempotent call that is cut off runs again with its key, and the rest of its batch goes on', async () => {
    await using stopped = await stopInside(kind, ['record', 'send_message']);
    const { crew } = stopped;
    await crew.answered('m1');
    expect(await crew.problems()).toEqual([]);
    const effects = await crew.site.effects();
    expect(effects.map(({ toolName }) => toolName)).toEqual(['record', 'record']);
    expect(new Set(effects.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    const results = lastCallsOf(crew.site.model).map(({ name, result }) => [name, result]);
    expect(results).toEqual([
      ['record', '{"done":"m1"}'],
      ['send_message', 'Sent.'],
    ]);
  });
});

/** Anna gets the request `m1` and makes these calls in one reply; her gateway gets a stop signal while the first of them runs. */
async function stopInside(
  kind: (typeof twoGateways)[number]['kind'],
  names: string[],
): Promise<AsyncDisposable & { crew: Crew }> {
  const inside = Promise.withResolvers<string>();
  const released = Promise.withResolvers<void>();
  const crew = await openCrew({
    kind,
    leaseMs: LONG_LEASE_MS,
    env: { TEST_GRACE_MS: '300' },
    decide(request) {
      if (request.agent !== 'Anna' || request.newCalls.length > 0) return doDuties(request);
      const [duty] = dutiesOf(request);
      const input = (name: string): object => (name === 'send_message' ? { text: answerText('m1') } : { ref: 'm1' });
      return duty === undefined
        ? {}
        : inSpace(
            request,
            duty,
            names.map((name) => ({ name, input: input(name) })),
          );
    },
    async onTool({ gateway }) {
      inside.resolve(gateway);
      await released.promise;
    },
  });
  await say(crew.first.url, 'North', `Anna: ${names[0]} m1`);
  const gateway = crew.named(await inside.promise);
  gateway.send('SIGTERM');
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
  released.resolve();
  return { crew, [Symbol.asyncDispose]: () => crew[Symbol.asyncDispose]() };
}

/** The calls in Anna's last request with their results, without those that enter spaces. */
function lastCallsOf({ requests }: LoopbackModel): ModelRequest['calls'] {
  const last = requests.findLast(({ agent }) => agent === 'Anna');
  return (last?.calls ?? []).filter(({ name }) => name !== 'enter_space');
}

// The behaviour of a single gateway does not depend on the database.
describe('a gateway gets a stop signal', { concurrent: true }, () => {
  test('[G42] a run that ends within the grace time ends, and then the process, with 0', async () => {
    const asked = Promise.withResolvers<string>();
    const stopping = Promise.withResolvers<void>();
    await using crew = await openCrew({
      kind: 'sqlite',
      leaseMs: LONG_LEASE_MS,
      env: { TEST_GRACE_MS: '60000' },
      async decide(request) {
        if (request.agent !== 'Anna' || request.newCalls.length > 0) return doDuties(request);
        asked.resolve(request.gateway);
        await stopping.promise;
        return doDuties(request);
      },
    });
    await say(crew.first.url, 'North', 'Anna: charge m1');
    const gateway = crew.named(await asked.promise);
    gateway.send('SIGTERM');
    stopping.resolve();
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    const requests = crew.site.model.requests.filter(({ agent }) => agent === 'Anna');
    expect(new Set(requests.map((request) => request.gateway))).toEqual(new Set([gateway.name]));
    const runs = await crew.site.db.selectFrom('runs').select('attempts').where('status', '=', 'completed').execute();
    expect(runs.every(({ attempts }) => attempts === 0)).toBe(true);
    await crew.answered('m1');
  });

  test('[G42] idle connections, and those with an incomplete request, are closed at once; an active request is answered, and streams end', async () => {
    await using crew = await openCrew({ kind: 'sqlite', env: { TEST_GRACE_MS: LONG_GRACE_MS }, decide: doDuties });
    const { first } = crew;
    const { spaces, entities } = await findPlace(first.url);
    const silent = await dial(first);
    const halfway = await dial(first, 'GET /health HTTP/1.1\r\nHost: x\r\n');
    const stream = await dial(first, `GET /api/spaces/${spaces.North}/stream HTTP/1.1\r\n${HEAD}\r\n`);
    const body = JSON.stringify({ entityId: entities.Bob, text: 'Sent while it stops.' });
    const head = `POST /api/spaces/${spaces.South}/messages HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\n`;
    // The log shows when the request was received: then it is active.
    const asking = await dial(first, `${head}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`);
    await until('the stream is open', () => stream.heard.startsWith('HTTP/1.1 200'));
    await until('the request is known', () => asking.heard.startsWith('HTTP/1.1 100'));
    first.send('SIGTERM');
    await Promise.all([silent.closed, halfway.closed, stream.closed]);
    expect(first.isRunning).toBe(true);
    asking.socket.write(body);
    await asking.closed;
    expect(asking.heard).toContain('HTTP/1.1 201');
    expect(await first.exited).toEqual({ code: 0, signal: null });
  });
});

const HEAD = `Host: x\r\nAuthorization: Bearer ${SECRET_KEY}\r\n`;

interface Line {
  readonly socket: Socket;
  readonly heard: string;
  readonly closed: Promise<unknown>;
}

/** A connection that sends these bytes, and no more by itself. */
async function dial({ url }: GatewayProcess, bytes = ''): Promise<Line> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const line = { socket, heard: '', closed: once(socket, 'close') };
  // A connection may be reset: only its end matters.
  socket.setEncoding('utf8').on('error', () => {});
  socket.on('data', (text: string) => {
    line.heard += text;
  });
  await once(socket, 'connect');
  socket.write(bytes);
  return line;
}
