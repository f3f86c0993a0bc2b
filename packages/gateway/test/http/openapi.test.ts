import { beforeAll, describe, expect, test } from 'vitest';
import { forAllTests } from '../support/for-all-tests.ts';
import { onSqlite } from '../support/stores.ts';
import { compiled, type Document, openApi } from './api.ts';

interface FullDocument extends Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Document['paths'][string][string] & Described>>;
  readonly components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
}

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly security: readonly Record<string, unknown>[];
}

describe('/openapi.json', () => {
  const database = forAllTests(onSqlite.create);
  const api = forAllTests(() => openApi(database));
  let document: FullDocument;
  let operations: readonly [string, FullDocument['paths'][string][string]][];
  beforeAll(async () => {
    document = (await api.call('GET', '/openapi.json', { secret: null })).body;
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]) => [`${method.toUpperCase()} ${path}`, one] as const),
    ) as typeof operations;
  });

  test('/openapi.json is OpenAPI 3.1 and knows every operation of the contract', () => {
    expect(document.openapi).toBe('3.1.0');
    const known = operations.map(([name]) => name);
    for (const [path, methods] of [
      ['/api/agents', 'GET POST'],
      ['/api/agents/{id}', 'GET PATCH DELETE'],
      ['/api/agents/{id}/versions', 'GET'],
      ['/api/agents/{id}/pause', 'POST'],
      ['/api/agents/{id}/resume', 'POST'],
      ['/api/agents/{id}/events', 'POST'],
      ['/api/agents/{id}/inbox', 'GET'],
      ['/api/agents/{id}/consciousness', 'GET'],
      ['/api/agents/{id}/goals', 'GET'],
      ['/api/agents/{id}/memories', 'GET'],
      ['/api/agents/{id}/plans', 'GET'],
      ['/api/agents/{id}/chat', 'POST'],
      ['/api/agents/{id}/chat/{chatId}/stream', 'GET'],
      ['/api/tools', 'GET POST'],
      ['/api/tools/{id}', 'GET PATCH DELETE'],
      ['/api/tools/{id}/test', 'POST'],
      ['/api/entities', 'GET POST'],
      ['/api/entities/{id}/token', 'POST'],
      ['/api/spaces', 'GET POST'],
      ['/api/spaces/{id}/members', 'GET POST DELETE'],
      ['/api/spaces/{id}/messages', 'GET POST'],
      ['/api/spaces/{id}/stream', 'GET'],
      ['/api/runs', 'GET'],
      ['/api/runs/{id}', 'GET'],
      ['/api/runs/{id}/transcript', 'GET'],
      ['/api/runs/{id}/calls/{callId}', 'GET'],
      ['/api/runs/{id}/stream', 'GET'],
      ['/api/runs/{id}/cancel', 'POST'],
      ['/api/runs/{runId}/tool-results', 'POST'],
      ['/api/calls/{id}', 'GET'],
      ['/api/pending', 'GET'],
      ['/api/artifacts/{id}', 'GET'],
      ['/api/jobs/stream', 'GET'],
      ['/api/jobs/{callId}/claim', 'POST'],
      ['/api/jobs/{callId}/heartbeat', 'POST'],
      ['/api/keys', 'GET POST'],
      ['/api/keys/{id}', 'DELETE'],
      ['/chat', 'POST'],
      ['/contexts', 'POST'],
      ['/contexts/{id}', 'GET DELETE'],
      ['/health', 'GET'],
      ['/ready', 'GET'],
      ['/metrics', 'GET'],
      ['/openapi.json', 'GET'],
    ])
      for (const method of methods?.split(' ') ?? []) expect(known).toContain(`${method} ${path}`);
  });

  test('/openapi.json is built in one turn of the event loop per operation, so that other requests do not wait for all of them', async () => {
    const fresh = await openApi(database, { services: api.services });
    let [turns, isMade] = [0, false];
    const count = (): void => {
      turns++;
      if (!isMade) setImmediate(count);
    };
    setImmediate(count);
    await fresh.app.fetch(new Request('http://gateway/openapi.json'));
    isMade = true;
    expect(turns).toBeGreaterThanOrEqual(operations.length);
    fresh.app.stop();
  });

  test('/openapi.json names every operation once, and has no broken references', () => {
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const text = JSON.stringify(document);
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      expect(document.components.schemas).toHaveProperty(name);
    expect(text).not.toContain('$defs');
    expect(text).not.toContain('"$schema"');
    for (const [, { security }] of operations)
      for (const one of security)
        expect(document.components.securitySchemes).toMatchObject(
          Object.fromEntries(Object.keys(one).map((name) => [name, {}])),
        );
  });

  test('/openapi.json gives a name to every large shape that repeats, so that types generated from it do not repeat', () => {
    const counts = new Map<string, number>();
    const count = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      const text = JSON.stringify(value);
      if ('type' in value && value.type === 'object' && text.length > 400)
        counts.set(text, (counts.get(text) ?? 0) + 1);
      Object.values(value).forEach(count);
    };
    count(document.paths);
    for (const schema of Object.values(document.components.schemas)) Object.values(schema).forEach(count);
    expect([...counts].filter(([, times]) => times > 1).map(([text]) => text)).toEqual([]);
  });

  test('/openapi.json gives every operation a unique summary, in the imperative and without a full stop', () => {
    const summaries = operations.map(([, { summary }]) => summary);
    expect(new Set(summaries).size).toBe(summaries.length);
    const verbs =
      /^(Add|Answer|Approve|Cancel|Check|Claim|Create|Delete|Fork|Get|Keep|List|Pause|Post|Redrive|Register|Remove|Resume|Revoke|Search|Send|Stream|Test|Update) .*[^.]$/;
    expect(summaries.filter((summary) => !verbs.test(summary))).toEqual([]);
  });

  test('/openapi.json has a parameter for every part of a path, and every refusal in the one shape', () => {
    for (const [name, { parameters, responses }] of operations) {
      const inPath = parameters.filter((one) => one.in === 'path').map((one) => `{${one.name}}`);
      expect([name, inPath]).toEqual([name, name.match(/\{\w+\}/g) ?? []]);
      for (const [status, { content }] of Object.entries(responses))
        if (Number(status) >= 400 && content['text/plain'] === undefined)
          expect([name, content['application/json']?.schema]).toEqual([
            name,
            { $ref: `#/components/schemas/${name.includes(' /v1/') ? 'OpenAiError' : 'ErrorBody'}` },
          ]);
    }
  });

  test('/openapi.json says which operations refuse with a text, because their clients show it to people', () => {
    const inText = operations.filter(([, { responses }]) => responses[422]?.content['text/plain'] !== undefined);
    expect(inText.map(([name]) => name)).toEqual([
      'POST /api/agents/{id}/chat',
      'GET /api/agents/{id}/chat/{chatId}/stream',
    ]);
  });

  test('exactly the operations that are documented to need a secret need one', async () => {
    for (const [name, { security }] of operations) {
      const [method = '', path = ''] = name.split(' ');
      const { status } = await api.call(method, path.replaceAll(/\{\w+\}/g, 'x'), { secret: null });
      expect([name, status === 401]).toEqual([name, security.length > 0]);
    }
  });

  test('a body that may be omitted is not required, and a request without a required one is refused', async () => {
    const optional = operations.filter(([, { requestBody }]) => requestBody?.required === false);
    expect(optional.map(([name]) => name).toSorted()).toEqual([
      'DELETE /api/spaces/{id}/members',
      'POST /api/agents/{id}/inbox/redrive',
      'POST /api/entities/{id}/token',
      // An empty file.
      'PUT /api/agents/{id}/files/{path}',
    ]);
    for (const [name, { requestBody }] of operations) {
      if (requestBody === undefined) continue;
      const [method = '', path = ''] = name.split(' ');
      // This gateway stores no files. Refused uploads are tested in attachments/attachments.test.ts.
      if (path === '/api/artifacts') continue;
      // Bodies of hooks are checked only after their signature.
      if (path.startsWith('/hooks/')) continue;
      // The only DELETE with a body accepts the same in its query.
      const query = method === 'DELETE' ? '?entityId=x' : '';
      const { status } = await api.call(method, path.replaceAll(/\{\w+\}/g, 'x') + query);
      expect([name, status === (path.startsWith('/v1/') ? 400 : 422)]).toEqual([name, requestBody.required]);
    }
  });

  test('[G54] the documented schemas are the enforced ones', async () => {
    const schemaOf = (path: string) =>
      compiled(document, { ...document.paths[path]?.post?.requestBody?.content['application/json']?.schema });
    const space = await api.space();
    for (const [path, body] of [
      ['/api/entities', { kind: 'human', displayName: 'Ada' }],
      ['/api/entities', { kind: 'agent', displayName: 'Ada' }],
      ['/api/entities', { kind: 'human' }],
      ['/api/entities', { kind: 'human', displayName: 'Ada', more: 1 }],
      ['/api/agents', { name: 'A', instructions: '' }],
      ['/api/agents', { name: 'A', instructions: '', spaceIds: [space], metadata: { a: 1 } }],
      ['/api/agents', { name: 'A' }],
      ['/api/agents', { name: 'A', instructions: '', limits: { maxSteps: 'many' } }],
      ['/api/agents', { name: 'A', instructions: '', unknown: 1 }],
      ['/api/keys', { name: 'k', scopes: [] }],
      ['/api/keys', { name: 'k', scopes: ['read'] }],
      ['/api/keys', { name: 'k', scopes: ['root'] }],
    ] as const) {
      const shown = await schemaOf(path)['~standard'].validate(body);
      const { status } = await api.call('POST', path, { body });
      expect([path, body, status]).toEqual([path, body, shown.issues === undefined ? 201 : 422]);
    }
  });
});
