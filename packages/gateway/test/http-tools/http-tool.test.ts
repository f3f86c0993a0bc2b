import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, dispatchCall, type Settlement } from '@lastcall/core';
import { systemClock } from '@lastcall/core/internal';
import { waitFor } from '@lastcall/gateway/testing';
import { describe, expect, test } from 'vitest';
import { createEgress } from '../../src/ports/egress/egress.ts';
import { httpTool } from '../../src/runtime/tools/http/http-tool.ts';
import { KnownSecrets } from '../../src/telemetry/known-secrets.ts';
import { createSecrets } from '../../src/telemetry/secrets.ts';
import { memoryInUse } from '../support/memory.ts';
import { startWebSite, type WebSite } from '../support/web-site.ts';
import { type Caller, startCaller } from './caller.ts';

const inputSchema = { type: 'object', properties: { city: { type: 'string' }, count: { type: 'integer' } } };

type Tool = Parameters<typeof startCaller>[0];

async function callerOf(site: WebSite, tool: Partial<Tool> = {}, options: object = {}): Promise<Caller> {
  return await startCaller(
    { executionType: 'gateway', visible: false, inputSchema, execution: { url: site.url }, ...tool },
    { egress: { allow: [site.host] }, ...options },
  );
}

describe('an agent calls a URL', { concurrent: true }, () => {
  test('[X3] by a tool of the configuration, and reads the JSON that comes back', async () => {
    await using site = await startWebSite();
    await using caller = await callerOf(site, { execution: { url: `${site.url}/weather/{{input.city}}` } });
    const { outcome, read } = await caller.call({ city: 'São Paulo' });
    expect(outcome).toMatchObject({ status: 'ok', value: { ok: true } });
    expect(JSON.parse(read)).toEqual({ ok: true });
    expect(site.requests).toMatchObject([{ method: 'GET', url: '/weather/S%C3%A3o%20Paulo' }]);
  });

  test.each([
    ['external', { url: true }, 'GET', ''],
    ['external', { webhookUrl: true }, 'POST', '{"count":3}'],
    ['internal', { url: true, method: 'PUT' }, 'PUT', '{"count":3}'],
  ] as const)('[X2] [X3] by an %s tool with %j, inline', async (executionType, fields, method, body) => {
    await using site = await startWebSite();
    const execution = Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [key, value === true ? `${site.url}/x` : value]),
    );
    await using caller = await callerOf(site, { executionType, execution });
    expect((await caller.call({ count: 3 })).outcome).toMatchObject({ status: 'ok', value: { ok: true } });
    expect(site.requests).toMatchObject([{ method, body, url: method === 'GET' ? '/x?count=3' : '/x' }]);
  });

  test('[X7] with the secrets on its list, and with no other variable', async () => {
    await using site = await startWebSite();
    const headers = { Authorization: 'Bearer ${env.API_KEY}', 'X-City': '{{input.city}}' };
    await using caller = await callerOf(
      site,
      { execution: { url: site.url, headers } },
      { secrets: ['API_KEY'], env: { API_KEY: 'the-api-key', OTHER: 'other-value' } },
    );
    await caller.call({ city: '${env.OTHER}' });
    expect(site.requests[0]?.headers).toMatchObject({ authorization: 'Bearer the-api-key', 'x-city': '${env.OTHER}' });
  });

  test.each([
    ['that is not on the list', [], { OTHER: 'other-value' }, 'OTHER is not on the list'],
    ['that is not set', ['OTHER'], {}, 'OTHER is not set'],
  ])('[X7] but not with a secret %s: it fails before any traffic', async (_what, secrets, env, expected) => {
    await using site = await startWebSite();
    const execution = { url: site.url, headers: { 'X-A': '${env.OTHER}' } };
    await using caller = await callerOf(site, { execution }, { secrets, env });
    expect((await caller.call({})).outcome).toMatchObject({
      status: 'error',
      code: 'execution',
      message: expect.stringContaining(expected),
    });
    expect([site.requests.length, site.sockets.size]).toEqual([0, 0]);
  });

  test('[X8] but not one that is not allowed, however the input requests it', async () => {
    await using site = await startWebSite();
    await using caller = await callerOf(site, {}, { egress: {} });
    expect((await caller.call({})).outcome).toEqual({
      status: 'error',
      code: 'egress_refused',
      message: 'The connection to 127.0.0.1 is refused: loopback.',
      text: 'The connection to 127.0.0.1 is refused: loopback.',
    });
    expect(site.sockets.size).toBe(0);
  });

  test('[X1] by a tool whose schema has a regular expression that never ends, and the call settles', async () => {
    await using site = await startWebSite();
    const evil = { type: 'object', properties: { city: { type: 'string', pattern: '^(a+)+$' } } };
    await using caller = await callerOf(site, { inputSchema: evil });
    expect((await caller.call({ city: `${'a'.repeat(60)}!` })).outcome).toMatchObject({ status: 'ok' });
  });

  test('[X1] by a tool of its own, and an invalid tool is refused with its path when it is registered', async () => {
    await using site = await startWebSite();
    await using caller = await callerOf(site);
    const config = (url: string): object => ({
      name: 'Other',
      instructions: '',
      tools: [{ name: 'own', executionType: 'gateway', execution: { url } }],
    });
    expect(await caller.gateway.api('/api/agents', config(`${site.url}/{{input.id}}`))).toHaveProperty('id');
    const { error } = await caller.gateway.api('/api/agents', config('https://{{input.host}}/'));
    expect(error).toMatchObject({ code: 'invalid_config', details: { path: 'tools[0].execution.url' } });
  });
});

describe('a response', { concurrent: true }, () => {
  test.each([
    ['JSON', 'application/json; charset=utf-8', '{"a":[1,null]}', { a: [1, null] }],
    ['JSON of a kind', 'application/problem+json', '"x"', 'x'],
    ['null', 'application/json', 'null', null],
    ['JSON without a type', undefined, '[1]', [1]],
    ['what only says that it is JSON', 'application/json', '<html>', '<html>'],
    ['text', 'text/plain', '{"a":1}', '{"a":1}'],
    ['text in another alphabet', 'text/plain; charset=iso-8859-1', Buffer.from([0xe9]), 'é'],
    ['a prototype', 'application/json', '{"__proto__":{"a":1}}', JSON.parse('{"__proto__":{"a":1}}')],
  ])('[X9] of %s is read according to its type', async (_what, type, body, value) => {
    await using site = await startWebSite((_request, response) => {
      if (type !== undefined) response.setHeader('content-type', type);
      response.end(body);
    });
    await using caller = await callerOf(site);
    expect((await caller.call({})).outcome).toMatchObject({ status: 'ok', value });
  });

  test('without a body is a success that says so', async () => {
    await using site = await startWebSite((_request, response) => response.writeHead(204).end());
    await using caller = await callerOf(site);
    expect(await caller.call({})).toMatchObject({
      outcome: { status: 'ok', value: null },
      read: 'HTTP 204, with an empty body.',
    });
  });

  test.each([302, 400, 404, 500])('[X9] of status %d is an error with the status and a short body', async (status) => {
    await using site = await startWebSite((_request, response) =>
      response.writeHead(status).end(`no luck ${'x'.repeat(5_000)}`),
    );
    await using caller = await callerOf(site);
    const { outcome } = await caller.call({});
    expect(outcome).toMatchObject({ status: 'error', code: 'execution' });
    expect(outcome.text).toMatch(new RegExp(`^HTTP ${status} from 127\\.0\\.0\\.1:\\d+: no luck x+…$`));
    expect(outcome.text.length).toBeLessThan(600);
    // The tool is not idempotent, so one request was sent.
    expect(site.requests).toHaveLength(1);
  });

  test('[X9] that takes longer than the timeout is aborted, before and in its body', async () => {
    const closed = { '/silent': Promise.withResolvers<void>(), '/begun': Promise.withResolvers<void>() };
    await using site = await startWebSite(({ url }, response) => {
      response.on('close', closed[url as keyof typeof closed].resolve);
      if (url === '/begun') response.write('beginning');
    });
    const sent = { '/silent': ['GET', 'none'], '/begun': ['POST', 'possible'] } as const;
    for (const [path, { promise }] of Object.entries(closed)) {
      const [method, effect] = sent[path as keyof typeof sent];
      await using caller = await callerOf(site, { execution: { url: `${site.url}${path}`, method, timeout: 200 } });
      expect((await caller.call({})).outcome).toMatchObject({ status: 'error', code: 'timeout', effect });
      await promise;
    }
    await waitFor(() => site.sockets.size === 0);
  });

  test('[X9] has a timeout of 30 seconds by default', async () => {
    await using site = await startWebSite();
    const timeoutOf = (more: object, execution: object): number =>
      httpTool(
        {
          name: 'a',
          description: 'a',
          inputSchema: { type: 'object' },
          executionType: 'gateway',
          execution: { url: site.url, ...execution },
          ...more,
        },
        { egress: createEgress(), secrets: createSecrets({ env: {}, names: [], known: new KnownSecrets() }) },
      ).timeoutMs;
    expect([timeoutOf({}, {}), timeoutOf({ timeoutMs: 5 }, {}), timeoutOf({}, { timeout: 7 })]).toEqual([30_000, 5, 7]);
  });
});

test('[X9] an endless response is cut with a marker, memory stays small, and the gateway responds meanwhile', async () => {
  const piece = Buffer.alloc(65_536, 'endless ');
  await using site = await startWebSite(async (_request, response) => {
    const closed = new Promise((resolve) => response.once('close', resolve));
    const drained = (): Promise<unknown> =>
      Promise.race([closed, new Promise((resolve) => response.once('drain', resolve))]);
    while (!response.destroyed) if (!response.write(piece)) await drained();
  });
  await using caller = await callerOf(site, {}, { tuning: { outputBytes: 4_000_000 } });
  await caller.call({});
  const before = await memoryInUse();
  const called = caller.call({});
  const health: number[] = [];
  for (let isOver = false; !isOver; isOver = await Promise.race([called.then(() => true), sleep(5, false)])) {
    const startedAt = performance.now();
    await (await fetch(`${caller.gateway.url}/health`)).text();
    health.push(performance.now() - startedAt);
  }
  const { outcome } = await called;
  expect([outcome.text.slice(0, 8), outcome.text.slice(-42)]).toEqual([
    'endless ',
    '\n[cut: the response was longer than 1 MiB]',
  ]);
  expect(outcome.text).toHaveLength(1_048_576 + 42);
  expect(await memoryInUse()).toBeLessThan(before + 30_000_000);
  expect(health.length).toBeGreaterThan(0);
  await waitFor(() => site.sockets.size === 0);
});

describe('a request is repeated', { concurrent: true }, () => {
  /** Answers the first requests with these statuses, where 0 breaks the connection, and later ones with success. */
  const failing = (statuses: readonly number[], headers: Record<string, string> = {}): Promise<WebSite> => {
    let count = 0;
    return startWebSite((_request, response) => {
      const status = statuses[count++];
      if (status === 0) return response.socket?.destroy();
      return status === undefined ? response.end('[1]') : response.writeHead(status, headers).end('later');
    });
  };

  test.each([[[429, 503]], [[500]], [[0, 502]], [[0, 0]]])(
    '[X10] after %j if the tool is idempotent, each time with the same key',
    async (statuses) => {
      await using site = await failing(statuses);
      await using caller = await callerOf(site, { idempotent: true, execution: { url: site.url, method: 'POST' } });
      expect((await caller.call({ count: 1 })).outcome).toMatchObject({ status: 'ok', value: [1] });
      expect(site.requests).toHaveLength(statuses.length + 1);
      const keys = new Set(site.requests.map(({ headers }) => headers['idempotency-key']));
      expect(keys.size).toBe(1);
      expect([...keys][0]).toMatch(/\S{8,}/);
      await caller.call({ count: 1 });
      expect(site.requests.at(-1)?.headers['idempotency-key']).not.toBe([...keys][0]);
    },
  );

  test('[X10] at most twice, and then the last failure counts', async () => {
    await using site = await failing([500, 500, 503, 500]);
    await using caller = await callerOf(site, { idempotent: true });
    expect((await caller.call({})).outcome).toMatchObject({
      status: 'error',
      text: expect.stringMatching(/^HTTP 503/),
    });
    expect(site.requests).toHaveLength(3);
  });

  test.each([400, 401, 404, 409, 422])('[X10] not after %d, which will not change', async (status) => {
    await using site = await failing([status]);
    await using caller = await callerOf(site, { idempotent: true });
    expect((await caller.call({})).outcome.status).toBe('error');
    expect(site.requests).toHaveLength(1);
  });

  test.each([0, 429, 503])('[X10] not after %d if the tool is not idempotent', async (status) => {
    await using site = await failing([status]);
    await using caller = await callerOf(site, { execution: { url: site.url, method: 'POST' } });
    const { outcome } = await caller.call({});
    expect(outcome.status).toBe('error');
    if (status === 0) expect(outcome.text).toContain('may have arrived: check before you repeat it');
    expect(site.requests).toHaveLength(1);
  });

  test('[X10] not before Retry-After has passed, and not at all if the call would have timed out before', async () => {
    await using site = await failing([503], { 'retry-after': '1' });
    await using caller = await callerOf(site, { idempotent: true });
    const startedAt = performance.now();
    expect((await caller.call({})).outcome.status).toBe('ok');
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1_000);
    await using patient = await failing([503], { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() });
    await using other = await callerOf(patient, { idempotent: true });
    expect((await other.call({})).outcome).toMatchObject({ status: 'error', text: expect.stringMatching(/^HTTP 503/) });
    expect(patient.requests).toHaveLength(1);
  });
});

describe.each([
  ['ahead of', 3_600_000],
  ['behind', -3_600_000],
])('a run whose clock is an hour %s that of the machine, because the latter was set', (_which, byMs) => {
  const callIn = async (site: WebSite, forMs: number): Promise<Settlement> => {
    const clock: Clock = { ...systemClock, now: () => Date.now() + byMs };
    const config = {
      name: 'get',
      description: 'Gets.',
      inputSchema,
      executionType: 'gateway',
      idempotent: true,
    } as const;
    const { tool } = httpTool(
      { ...config, execution: { url: site.url } },
      {
        egress: createEgress({ allow: [site.host] }),
        secrets: createSecrets({ env: {}, names: [], known: new KnownSecrets() }),
      },
    );
    const deadline = clock.now() + forMs;
    return await dispatchCall({ tools: { get: tool }, call: { toolName: 'get', input: {} }, clock, deadline });
  };

  test('[X10] repeats a request while the call has time for it, and not longer', async () => {
    let count = 0;
    await using site = await startWebSite((_request, response) =>
      count++ === 0 ? response.writeHead(503).end('later') : response.end('[1]'),
    );
    expect((await callIn(site, 60_000)).outcome).toMatchObject({ status: 'ok', value: [1] });
    await using patient = await startWebSite((_request, response) =>
      response.writeHead(503, { 'retry-after': '100' }).end('later'),
    );
    expect((await callIn(patient, 10_000)).outcome).toMatchObject({ text: expect.stringMatching(/^HTTP 503/) });
  });
});

describe('a connection that fails', { concurrent: true }, () => {
  test('says that nothing was sent if it is refused', async () => {
    const site = await startWebSite();
    await using caller = await callerOf(site);
    await site[Symbol.asyncDispose]();
    expect((await caller.call({})).outcome).toMatchObject({
      status: 'error',
      code: 'execution',
      text: `The connection to ${site.host} failed (ECONNREFUSED). Nothing was sent.`,
    });
  });

  test('says that the request may have arrived if a redirect led to it', async () => {
    const gone = await startWebSite();
    await gone[Symbol.asyncDispose]();
    await using site = await startWebSite((_request, response) =>
      response.writeHead(303, { location: gone.url }).end(),
    );
    const execution = { url: site.url, method: 'POST' };
    await using caller = await callerOf(site, { execution }, { egress: { allow: [site.host, gone.host] } });
    const { outcome } = await caller.call({ count: 1 });
    expect(outcome.text).toContain('(ECONNREFUSED). The request may have arrived');
    expect(site.requests).toMatchObject([{ method: 'POST', body: '{"count":1}' }]);
  });
});
