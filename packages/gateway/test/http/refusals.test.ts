import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../src/ports/store/store.ts';
import { StoreUnavailable } from '../../src/ports/store/store-error.ts';
import { endpoint } from '../../src/transport/http/endpoint.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { embedded, onSqlite } from '../support/stores.ts';
import { withLimits } from '../support/with-limits.ts';
import { openApi, toRequest } from './api.ts';

describe.each(embedded)('refused requests on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database, { limits: { bodyBytes: 100_000 } }));

  const raw = async (body: string | Uint8Array<ArrayBuffer>, contentType = 'application/json') => {
    const response = await api.app.fetch(
      new Request('http://gateway/api/entities', {
        method: 'POST',
        headers: { authorization: `Bearer ${api.key}`, 'content-type': contentType },
        body,
      }),
    );
    const { error } = (await response.json()) as { error: { code: string; details?: { path?: string } } };
    return [response.status, error.code, error.details?.path];
  };
  const person = '"kind":"human","displayName":"Ada"';

  test.each([
    ['nothing in it', '', 422, 'invalid_request', ''],
    ['half an object', `{${person}`, 400, 'invalid_json', undefined],
    ['two values', '{}{}', 400, 'invalid_json', undefined],
    ['a text', '"x"', 422, 'invalid_request', ''],
    ['null', 'null', 422, 'invalid_request', ''],
    ['an array', '[]', 422, 'invalid_request', ''],
    ['a missing field', '{"kind":"human"}', 422, 'invalid_request', 'displayName'],
    ['a wrong type', '{"kind":"human","displayName":1}', 422, 'invalid_request', 'displayName'],
    ['a wrong word', '{"kind":"robot","displayName":"Ada"}', 422, 'invalid_request', 'kind'],
    ['an unknown field', `{${person},"admin":true}`, 422, 'invalid_request', 'admin'],
    ['a name of power', `{${person},"__proto__":{"x":1}}`, 422, 'invalid_request', '__proto__'],
    ['one inside', `{${person},"metadata":{"a":[{"__proto__":1}]}}`, 422, 'invalid_request', 'metadata.a[0].__proto__'],
    ['a huge number', `{${person},"metadata":{"n":1e999}}`, 422, 'invalid_request', 'metadata.n'],
    [
      'a number that would change',
      `{${person},"metadata":{"n":12345678901234567890}}`,
      422,
      'invalid_request',
      'metadata.n',
    ],
    [
      'U+0000 where a column cannot hold it',
      '{"kind":"human","displayName":"a\\u0000b"}',
      422,
      'invalid_request',
      'displayName',
    ],
    ['half a character', '{"kind":"human","displayName":"a\\ud800b"}', 422, 'invalid_request', 'displayName'],
    ['a name too long', `{"kind":"human","displayName":"${'x'.repeat(300)}"}`, 413, 'too_large', 'displayName'],
    ['deep nesting', `{${person},"metadata":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 400, 'too_deep', undefined],
    ['nesting without an end', '['.repeat(90_000), 400, 'too_deep', undefined],
    ['a body too large', `{"displayName":"${'x'.repeat(200_000)}"}`, 413, 'body_too_large', undefined],
  ])('[G54] a body with %s is refused', async (_what, body, status, code, path) => {
    expect(await raw(body)).toEqual([status, code, path]);
  });

  test('[G54] an answer or an outcome in none of its forms is refused with the forms', async () => {
    const refusal = async (path: string, body: object) => {
      const { status, body: refused } = await api.call('POST', path, { body });
      return [status, refused.error.message];
    };
    const answers =
      'The body must be one of { callId, result }, { callId, error }, { callId, approve: true, input? } and { callId, deny }.';
    for (const body of [
      { callId: 'c' },
      { callId: 'c', approve: true, deny: 'No.' },
      { callId: 'c', result: 1, error: 'x' },
    ])
      expect(await refusal('/api/runs/r/tool-results', body)).toEqual([422, answers]);
    expect(await refusal('/api/runs/r/forks', { atStep: 1, changes: { outcomes: { c: 1 } } })).toEqual([
      422,
      'changes.outcomes.c must be { result }, { error } or { deny }.',
    ]);
  });

  test('[G54] 64 levels of nesting are accepted, and one more is refused', async () => {
    // The body and the metadata are two of the levels.
    const nested = (levels: number) =>
      `{${person},"metadata":{"a":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}}`;
    const accepted = await api.call('POST', '/api/entities', { body: nested(64) });
    expect(accepted.status).toBe(201);
    expect(await raw(nested(65))).toEqual([400, 'too_deep', undefined]);
  });

  test('[G54] brackets in texts are not nesting', async () => {
    const metadata = { text: '[{"'.repeat(500) };
    const answer = await api.call('POST', '/api/entities', { body: { kind: 'human', displayName: 'Ada', metadata } });
    expect(answer.body.metadata).toEqual(metadata);
  });

  test('[G54] bytes that are not UTF-8 are refused', async () => {
    const bytes = Buffer.from('{"kind":"human","displayName":"A\xe4"}', 'latin1');
    expect(await raw(bytes)).toEqual([400, 'invalid_utf8', undefined]);
  });

  test('[G54] a body that is anything but JSON is refused', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'json'])
      expect(await raw(`{${person}}`, type)).toEqual([415, 'unsupported_media_type', undefined]);
    const fine = await api.call('POST', '/api/entities', {
      body: { kind: 'human', displayName: 'Ada' },
      headers: { 'content-type': 'Application/JSON; charset=utf-8' },
    });
    expect(fine.status).toBe(201);
  });

  test('[G53] a body over the limit is refused before it is read', async () => {
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(10_000));
      },
    });
    const response = await api.app.fetch(
      new Request('http://gateway/api/entities', {
        method: 'POST',
        headers: { authorization: `Bearer ${api.key}`, 'content-type': 'application/json' },
        body: endless,
        duplex: 'half',
      } as RequestInit),
    );
    expect(response.status).toBe(413);
    expect(pulled).toBeLessThan(20);
  });

  test('[G54] queries with unknown, doubled, wrong or impossible values are refused', async () => {
    for (const [query, path] of [
      ['limit=0', 'limit'],
      ['limit=201', 'limit'],
      ['limit=-1', 'limit'],
      ['limit=1e2', 'limit'],
      ['limit=', 'limit'],
      ['limit=99999999999999999999', 'limit'],
      ['limit=1&limit=2', 'limit'],
      ['cursor=%00', 'cursor'],
      ['kind=robot', 'kind'],
      ['unknown=1', 'unknown'],
      ['__proto__=1', '__proto__'],
      ['externalId=%00', 'externalId'],
    ]) {
      const answer = await api.call('GET', `/api/entities?${query}`);
      expect([query, answer.status, answer.body.error?.details.path]).toEqual([query, 422, path]);
    }
  });

  test('[G54] impossible ids are not found', async () => {
    for (const id of ['%00', '%ED%A0%80', 'x'.repeat(2_000), '%2e%2e%2fetc', "'; drop table agents --", '%F0%9F%92%A9'])
      for (const [method, path] of [
        ['GET', `/api/agents/${id}`],
        ['DELETE', `/api/agents/${id}`],
        ['GET', `/api/agents/${id}/goals`],
        ['GET', `/api/spaces/${id}/messages`],
        ['GET', `/api/spaces/${id}/stream`],
        ['POST', `/api/runs/${id}/cancel`],
        ['DELETE', `/api/keys/${id}`],
      ] as const)
        expect([method, path, (await api.call(method, path)).status]).toEqual([method, path, 404]);
  });

  test('[G54] no endpoint ever sees an id that no database can hold', async () => {
    const echo = endpoint({
      method: 'get',
      path: '/api/echo/{id}',
      summary: 'Says what it was given.',
      access: 'key',
      answer: z.strictObject({ id: z.string() }),
      handle: async ({ params }) => params,
    });
    const echoing = await openApi(database, { services: api.services, endpoints: [echo] });
    expect((await echoing.call('GET', '/api/echo/a%2Fb%20%C3%A4')).body).toEqual({ id: 'a/b ä' });
    for (const id of ['%00', 'a%00b', 'x'.repeat(2_000)])
      expect([id, (await echoing.call('GET', `/api/echo/${id}`)).status]).toEqual([id, 404]);
  });

  test('an unknown path is 404 and an unknown method 405, with the allowed ones', async () => {
    for (const path of ['/', '/api', '/api/nothing', '/api/agents/', '/API/agents', '/api/agents/x/y/z', '/.env'])
      expect([path, (await api.call('GET', path)).body.error.code]).toEqual([path, 'not_found']);
    const answer = await api.call('PUT', '/api/agents/x');
    expect([answer.status, answer.body.error.code]).toEqual([405, 'method_not_allowed']);
    expect(answer.headers.get('allow')).toBe('GET, PATCH, DELETE');
    expect((await api.call('POST', '/health')).status).toBe(405);
    expect((await api.call('OPTIONS', '/api/agents')).status).toBe(405);
    expect((await api.call('WHATEVER', '/api/agents')).status).toBe(405);
  });

  test('operations without a body accept only an empty object', async () => {
    const path = `/api/agents/${await api.agent()}/pause`;
    for (const [body, status] of [
      [undefined, 200],
      ['{}', 200],
      ['{"x":1}', 422],
      ['[]', 422],
      ['nonsense', 400],
    ] as const)
      expect([body, (await api.call('POST', path, { body })).status]).toEqual([body, status]);
  });

  test('[G52] [G51] without a valid secret every operation is refused, and nothing is revealed about the body', async () => {
    const token = await api.tokenOf(await api.person());
    const [header, payload, signature] = token.split('.') as [string, string, string];
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    for (const authorization of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      `Basic ${btoa(`key:${api.key}`)}`,
      api.key,
      `Bearer ${api.key}x`,
      `Bearer ${api.key.slice(0, -1)}`,
      `Bearer ${api.key} ${api.key}`,
      `Bearer ${none}.${payload}.`,
      `Bearer ${header}.${payload}.${signature.slice(1)}`,
      `Bearer ${header}.${payload}.`,
      `Bearer ${'x'.repeat(10_000)}`,
      `Bearer ${token.slice(0, -1)}é`,
    ]) {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await api.call('POST', '/api/entities', { secret: null, headers, body: '{' });
      expect([authorization, answer.status, answer.body.error.code]).toEqual([authorization, 401, 'unauthorized']);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    const other = await api.call('GET', '/api/spaces', {
      secret: null,
      headers: { authorization: `bearer  ${api.key}` },
    });
    expect(other.status).toBe(200);
  });

  test('[G52] the token of a deleted entity has no access', async () => {
    const ada = await api.person();
    const token = await api.tokenOf(ada);
    expect((await api.call('GET', '/api/spaces', { secret: token })).status).toBe(200);
    await api.store.transaction(({ db }) =>
      db.updateTable('entities').set({ deleted_at: 1 }).where('id', '=', ada).execute(),
    );
    expect((await api.call('GET', '/api/spaces', { secret: token })).status).toBe(401);
    expect((await api.call('POST', `/api/entities/${ada}/token`)).status).toBe(404);
  });

  test('[G43] while the database is away the answer is 503, with when to try again, and /ready says so', async () => {
    const away: Store = {
      ...api.store,
      transaction: () => Promise.reject(new StoreUnavailable(new Error('ECONNREFUSED'))),
      ping: () => Promise.reject(new Error('ECONNREFUSED')),
    };
    const cut = await openApi(database, { services: api.services });
    Object.assign(cut.services, { store: away });
    for (const path of ['/api/agents', '/ready']) {
      const answer = await cut.call('GET', path);
      expect([path, answer.status, answer.body.error.code]).toEqual([path, 503, 'store_unavailable']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(JSON.stringify(answer.body)).not.toContain('ECONNREFUSED');
    }
    expect((await cut.call('GET', '/health')).status).toBe(200);
    Object.assign(cut.services, { store: api.store });
    expect((await cut.call('GET', '/ready')).status).toBe(200);
  });

  test('[G54] an unexpected error is logged with the request id, which is all that the client gets', async () => {
    const broken = await openApi(database, { services: api.services });
    Object.assign(broken.services, {
      store: { ...api.store, transaction: () => Promise.reject(new Error('secret detail')) },
    });
    const answer = await broken.call('GET', '/api/agents');
    const { code, details } = answer.body.error;
    expect([answer.status, code]).toEqual([500, 'internal']);
    expect(JSON.stringify(answer.body)).not.toMatch(/secret detail|\.ts\b|\n/);
    expect(answer.headers.get('x-request-id')).toBe(details.requestId);
    expect(api.logs.findLast(({ level }) => level === 'error')).toMatchObject({
      level: 'error',
      details: { requestId: details.requestId },
    });
  });

  test('requests are logged by their route, never by their URL or their secret', async () => {
    const token = await api.tokenOf(await api.person());
    await api.call('GET', `/api/spaces/my-space/stream?token=${token}`, { secret: null });
    expect(api.logs.at(-1)).toMatchObject({
      level: 'debug',
      details: { method: 'GET', route: '/api/spaces/{id}/stream', status: 404 },
    });
    expect(JSON.stringify(api.logs)).not.toMatch(/my-space|eyJ|lc_sk_/);
  });

  test('[G53] an inbox that is full refuses with 429 and when to try again', async () => {
    const limits = { ...api.services.limits, inboxLength: 1 };
    const services = { ...api.services, store: withLimits(api.store, limits), limits };
    const small = await openApi(database, { services });
    const path = `/api/agents/${await small.agent()}/events`;
    const event = { source: 's', name: 'n' };
    expect((await small.call('POST', path, { body: event })).status).toBe(201);
    const refused = await small.call('POST', path, { body: event });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'inbox_full']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('headers', () => {
  const database = forAllTests(onSqlite.create);
  const api = forAllTests(() => openApi(database, { corsOrigins: ['https://app.example.com'] }));

  test('[G55] no response, also no refusal or stream, can be used as a page, a script or a frame', async () => {
    const space = await api.space();
    for (const path of [
      '/health',
      '/api/agents',
      '/nowhere',
      '/api/agents?x=1',
      `/api/spaces/${space}/stream`,
      '/openapi.json',
    ]) {
      const response = await api.app.fetch(toRequest('GET', path, { secret: api.key }));
      await response.body?.cancel();
      expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('cache-control')).toContain('no-store');
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  test('[G55] pages of configured origins may use the API, those of others may not', async () => {
    const ask = (origin: string, headers: object = {}, method = 'GET') =>
      api.app.fetch(toRequest(method, '/api/agents', { secret: null, headers: { origin, ...headers } }));
    const preflight = { 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'authorization' };
    const good = await ask('https://app.example.com', preflight, 'OPTIONS');
    expect(good.status).toBe(204);
    expect(good.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect(good.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(good.headers.get('access-control-allow-methods')).toContain('PATCH');
    expect(good.headers.get('access-control-allow-credentials')).toBeNull();
    // A page must be able to read why it was refused.
    const refused = await ask('https://app.example.com');
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      401,
      'https://app.example.com',
    ]);
    const exposed = refused.headers.get('access-control-expose-headers')?.split(',');
    const read = ['x-request-id', 'x-run-id', 'x-context-id', 'last-event-id', 'date'];
    expect(exposed).toEqual(expect.arrayContaining(read));
    for (const origin of [
      'https://evil.example',
      'https://app.example.com.evil.example',
      'http://app.example.com',
      'null',
    ])
      for (const [headers, method] of [
        [preflight, 'OPTIONS'],
        [{}, 'GET'],
      ] as const)
        expect((await ask(origin, headers, method)).headers.get('access-control-allow-origin')).toBeNull();
  });
});
