import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Tables } from '../../src/ports/store/schema/tables.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { type Database, databases } from '../support/stores.ts';
import { type Api, type Document, openApi } from './api.ts';

/** How many requests: on PostgreSQL each costs more, and only what its columns refuse is new. */
const RUNS = { sqlite: 1_000, postgres: 150 };

describe.each(databases)('requests that make little sense, on $kind', ({ kind, create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database, { heartbeatMs: 1_000_000 }));
  let document: Document;
  let ids: Ids;
  beforeAll(async () => {
    document = (await api.done('GET', '/openapi.json')) as unknown as Document;
    const [ada, ...agents] = [await api.person(), await api.agent(), await api.agent(), await api.agent()];
    const spaces = [await api.space(ada, ...agents), await api.space()];
    const runs = await Promise.all(agents.map((agent) => api.run(agent)));
    ids = { entities: [ada, ...agents], agents, spaces, runs, keys: ['none'] };
  });

  test('[G54] [G53] requests that make little sense are answered, never with 5xx, always in one shape; and a refused one has written nothing', async () => {
    const arbitrary = fc.constantFrom(...operations(document)).chain((operation) => requestFor(operation, ids));
    using state = stateOf(api, database);
    let before = await state.read();
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(arbitrary, async (sent) => {
        const response = await send(api, sent);
        seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
        expect(response.status).toBeLessThan(500);
        if (response.status < 400 || response.status === CLIENT_GONE) {
          await response.body?.cancel();
          before = await state.read();
          return;
        }
        const { error, ...rest } = await refusalOf(response);
        // The MCP server speaks JSON-RPC to those who got in.
        const shape = 'jsonrpc' in rest ? ['number', 'string', { jsonrpc: '2.0', id: null }] : ['string', 'string', {}];
        expect([typeof error.code, typeof error.message, rest]).toEqual(shape);
        expect(JSON.stringify(error)).not.toMatch(/\bat \S+ \(|node_modules|\.ts:\d/);
        expect(await state.read()).toBe(before);
      }),
      { numRuns: RUNS[kind] },
    );
    // The requests are bad in many ways, and some are good: else they prove nothing.
    const ways = kind === 'sqlite' ? [200, 201, 400, 404, 415, 422] : [200, 404, 422];
    expect(ways.filter((status) => !seen.has(status))).toEqual([]);
    expect(api.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

/** Of requests that started a run, and would wait for it. There is nobody here who runs it: the client goes away. */
const CLIENT_GONE = 499;
const WAIT_MS = 100;

/** The one shape. Where clients show the body to people, it is the message alone, and the code is in a header. */
async function refusalOf(response: Response): Promise<{ error: { code: unknown; message: unknown } }> {
  if (response.headers.get('content-type')?.startsWith('text/plain') !== true)
    return (await response.json()) as { error: { code: unknown; message: unknown } };
  return { error: { code: response.headers.get('x-error-code'), message: await response.text() } };
}

/** What is there, by the part of a path that it follows. */
type Ids = Readonly<Record<string, readonly string[]>>;

interface Known {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly { name: string; in: 'path' | 'query'; schema: Schema }[];
  readonly body: Schema | undefined;
}

type Schema = Readonly<Record<string, unknown>>;

function operations({ paths, components }: Document): Known[] {
  const resolve = (schema: object): Schema => {
    const { $ref } = schema as { $ref?: string };
    return $ref === undefined
      ? (schema as Schema)
      : ((components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}) as Schema);
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      parameters: parameters.map((one) => ({ ...one, schema: resolve(one.schema) })),
      body: requestBody === undefined ? undefined : resolve(requestBody.content['application/json']?.schema ?? FILE),
    })),
  );
}

/** Any bytes are a file. */
const FILE = { type: 'string' };

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
}

function requestFor({ method, path, parameters, body }: Known, ids: Ids): fc.Arbitrary<Sent> {
  const all = Object.values(ids).flat();
  const own = ids[path.split('/')[2] ?? ''] ?? all;
  const id = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...own) },
    { weight: 1, arbitrary: fc.constantFrom(...all) },
    { weight: 1, arbitrary: fc.oneof(fc.string({ unit: 'binary', minLength: 1 }), fc.constantFrom(...ODD_TEXTS)) },
  );
  const params = fc.tuple(...parameters.filter((one) => one.in === 'path').map(() => id));
  const query = fc.oneof(
    { weight: 8, arbitrary: fc.constant('') },
    { weight: 3, arbitrary: queryOf(parameters.filter((one) => one.in === 'query')) },
    { weight: 1, arbitrary: fc.webQueryParameters() },
  );
  const contentType = fc.oneof(
    { weight: 8, arbitrary: fc.constant('application/json') },
    {
      weight: 1,
      arbitrary: fc.constantFrom('text/plain', '', 'application/json; charset=utf-16', 'multipart/form-data'),
    },
  );
  const extra = fc.oneof(
    { weight: 5, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.constantFrom({ 'last-event-id': '-1' }, { 'last-event-id': '9'.repeat(30) }, { accept: '\\' }),
    },
  );
  return fc.record({ params, query, contentType, extra, sent: bodyOf(body, all) }).map((drawn) => {
    let next = 0;
    const filled = path.replaceAll(/\{\w+\}/g, () => toSegment(drawn.params[next++] ?? ''));
    return {
      method,
      path: drawn.query === '' ? filled : `${filled}?${drawn.query}`,
      headers: { 'content-type': drawn.contentType, ...drawn.extra },
      body: method === 'GET' ? undefined : drawn.sent,
    };
  });
}

// A lone surrogate cannot be in a URL: its halves of bytes can.
function toSegment(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80';
}

function queryOf(parameters: readonly { name: string; schema: Schema }[]): fc.Arbitrary<string> {
  const value = fc.oneof(
    fc.integer().map(String),
    fc.constantFrom('1', '0', '200', '201', '', '%00', '1e9', 'pending', 'human', 'active', 'NaN', '\u{1f4a9}'),
    fc.string({ unit: 'binary' }),
  );
  if (parameters.length === 0) return fc.constant('unknown=1');
  return fc
    .array(fc.tuple(fc.constantFrom(...parameters.map(({ name }) => name)), value), { minLength: 1, maxLength: 3 })
    .map((pairs) => pairs.map(([name, text]) => `${name}=${toSegment(text)}`).join('&'));
}

function bodyOf(schema: Schema | undefined, ids: readonly string[]): fc.Arbitrary<Sent['body']> {
  const garbage = fc.oneof(
    fc.constant(undefined),
    fc.json(),
    fc.string({ unit: 'binary' }),
    fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => new Uint8Array(bytes)),
    fc.constantFrom(
      '[',
      '{"a":',
      '1e999',
      `${'[['.repeat(200)}`,
      `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`,
      'nul',
      '""""',
    ),
  );
  if (schema === undefined)
    return fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: garbage });
  const made = madeFrom(schema, ids);
  return fc.oneof(
    { weight: 6, arbitrary: made.map((value) => JSON.stringify(value)) },
    { weight: 4, arbitrary: fc.tuple(made, fc.nat(), ODD_VALUE).map(([value, at, odd]) => replaced(value, at, odd)) },
    { weight: 1, arbitrary: fc.tuple(made, fc.nat(60)).map(([value, at]) => JSON.stringify(value)?.slice(0, at)) },
    { weight: 2, arbitrary: garbage },
  );
}

const ODD_TEXTS = ['', ' ', '\0', 'a\0b', '..', '__proto__', 'constructor', 'x'.repeat(600), "'; --", '\u{1f4a9}', '%'];

/** As text of JSON: some of it no value of ours can say. */
const ODD_VALUE: fc.Arbitrary<string> = fc.oneof(
  fc.json(),
  fc.constantFrom(...ODD_TEXTS.map((text) => JSON.stringify(text))),
  fc.constantFrom(
    '1e999',
    '-1e999',
    '12345678901234567890',
    '0.1e-400',
    '"\\ud800"',
    '{"__proto__":1}',
    '-0',
    '[]',
    '{}',
    'null',
  ),
);

/** One of its values, wherever it is, is another; or a field more is there. */
function replaced(value: unknown, at: number, odd: string): string {
  const mark = '"@odd@"';
  const places = placesOf(value);
  const [holder, key] = places[at % (places.length + 1)] ?? [value, `extra${at % 3}`];
  if (typeof holder !== 'object' || holder === null) return odd;
  const copy = structuredClone(value);
  const target = findSame(value, copy, holder) as Record<string, unknown>;
  target[key] = '@odd@';
  return JSON.stringify(copy).replace(mark, () => odd);
}

function placesOf(value: unknown): [object, string][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => [[value, key] as [object, string], ...placesOf(one)]);
}

/** The part of a copy that stands where `holder` stands in the original. */
function findSame(original: unknown, copy: unknown, holder: object): unknown {
  if (original === holder) return copy;
  if (typeof original !== 'object' || original === null) return undefined;
  for (const [key, one] of Object.entries(original)) {
    const found = findSame(one, (copy as Record<string, unknown>)[key], holder);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** About what the schema asks for. */
function madeFrom(schema: Schema, ids: readonly string[]): fc.Arbitrary<unknown> {
  const { type, properties, required, anyOf, oneOf, items, minimum, maximum } = schema as {
    type?: string;
    properties?: Record<string, Schema>;
    required?: string[];
    anyOf?: Schema[];
    oneOf?: Schema[];
    items?: Schema;
    minimum?: number;
    maximum?: number;
  };
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  if ('const' in schema) return fc.constant(schema.const);
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map((one) => madeFrom(one, ids)));
  switch (type) {
    case 'object': {
      const fields = Object.entries(properties ?? {}).map(([name, one]) => [name, madeFrom(one, ids)] as const);
      return fields.length === 0
        ? fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
        : fc.record(Object.fromEntries(fields), { requiredKeys: required ?? [] });
    }
    case 'array':
      return fc.array(madeFrom(items ?? {}, ids), { maxLength: 3 });
    case 'string':
      return fc.oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), fc.constantFrom(...ids));
    case 'integer':
    case 'number':
      return fc.integer({ min: Math.max(minimum ?? -5, -1e9), max: Math.min(maximum ?? 1e6, 1e9) });
    case 'boolean':
      return fc.boolean();
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

async function send(api: Api, { method, path, headers, body }: Sent): Promise<Response> {
  return await api.app.fetch(
    new Request(`http://gateway${path}`, {
      method,
      headers: { authorization: `Bearer ${api.key}`, ...headers },
      signal: AbortSignal.timeout(WAIT_MS),
      ...(body === undefined ? {} : { body }),
    }),
  );
}

const TABLES: readonly (keyof Tables)[] = [
  'entities',
  'agents',
  'threads',
  'spaces',
  'memberships',
  'messages',
  'inbox_events',
  'runs',
  'streams',
  'stream_events',
  'api_keys',
];

interface State extends Disposable {
  read(): Promise<string>;
}

/** What changes when anything is written. SQLite counts what other connections commit: to read it all takes longer than the requests. */
function stateOf(api: Api, { kind, location }: Database): State {
  if (kind === 'postgres') return { read: () => contents(api), [Symbol.dispose]: () => {} };
  const beside = new DatabaseSync(join(location, 'lastcall.db'), { readOnly: true });
  const version = beside.prepare('pragma data_version');
  return { read: async () => JSON.stringify(version.get()), [Symbol.dispose]: () => beside.close() };
}

/** Everything a request could have changed. */
async function contents({ store }: Api): Promise<string> {
  const all = [];
  for (const table of TABLES) {
    const rows = await store.db.selectFrom(table).selectAll().execute();
    // Databases give rows in any order.
    all.push(rows.map((row) => JSON.stringify(row)).sort());
  }
  return JSON.stringify(all);
}
