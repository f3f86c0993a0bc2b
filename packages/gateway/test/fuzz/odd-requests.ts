import fc from 'fast-check';
import type { Document } from '../http/api.ts';

/*
 * Odd requests, generated from the OpenAPI document: nearly what an operation expects, but with a value replaced, a text cut, an
 * odd id, a wrong type. Some of them are valid.
 */

/** Existing ids, by the part of a path that they follow. */
export type Ids = Readonly<Record<string, readonly string[]>>;

export interface KnownOperation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly { name: string; in: 'path' | 'query'; schema: Schema }[];
  readonly body: Schema | undefined;
  /** The schema that one with a `$ref` refers to. */
  readonly resolve: (schema: object) => Schema;
}

type Schema = Readonly<Record<string, unknown>>;

export function operationsOf({ paths, components }: Document): KnownOperation[] {
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
      resolve,
    })),
  );
}

/** Any bytes are a file. */
const FILE = { type: 'string' };

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
}

export function requestFor({ method, path, parameters, body, resolve }: KnownOperation, ids: Ids): fc.Arbitrary<Sent> {
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
  return fc
    .record({ params, query, contentType, extra, sent: bodyOf(body, { ids: all, resolve, depth: 0 }) })
    .map((drawn) => {
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

// A URL cannot have a lone surrogate, but its bytes.
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

function bodyOf(schema: Schema | undefined, making: Making): fc.Arbitrary<Sent['body']> {
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
  const made = madeFrom(schema, making);
  return fc.oneof(
    { weight: 6, arbitrary: made.map((value) => JSON.stringify(value)) },
    { weight: 4, arbitrary: fc.tuple(made, fc.nat(), ODD_VALUE).map(([value, at, odd]) => replaced(value, at, odd)) },
    { weight: 1, arbitrary: fc.tuple(made, fc.nat(60)).map(([value, at]) => JSON.stringify(value)?.slice(0, at)) },
    { weight: 2, arbitrary: garbage },
  );
}

const ODD_TEXTS = ['', ' ', '\0', 'a\0b', '..', '__proto__', 'constructor', 'x'.repeat(600), "'; --", '\u{1f4a9}', '%'];

/** Raw JSON text, some of which no JavaScript value can express. */
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

/** Replaces one of its values, at any depth, or adds a field. */
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

/** The part of a copy at the position of `holder` in the original. */
function findSame(original: unknown, copy: unknown, holder: object): unknown {
  if (original === holder) return copy;
  if (typeof original !== 'object' || original === null) return undefined;
  for (const [key, one] of Object.entries(original)) {
    const found = findSame(one, (copy as Record<string, unknown>)[key], holder);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Making {
  readonly ids: readonly string[];
  readonly resolve: (schema: object) => Schema;
  readonly depth: number;
}

/** Schemas refer to themselves. */
const DEEPEST = 5;

/** A value that nearly fits the schema. */
function madeFrom(given: Schema, { ids, resolve, depth }: Making): fc.Arbitrary<unknown> {
  const schema = resolve(given);
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
  const inner = (one: Schema): fc.Arbitrary<unknown> =>
    depth === DEEPEST ? fc.jsonValue({ maxDepth: 1 }) : madeFrom(one, { ids, resolve, depth: depth + 1 });
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  if ('const' in schema) return fc.constant(schema.const);
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map(inner));
  switch (type) {
    case 'object': {
      const fields = Object.entries(properties ?? {}).map(([name, one]) => [name, inner(one)] as const);
      return fields.length === 0
        ? fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
        : fc.record(Object.fromEntries(fields), { requiredKeys: required ?? [] });
    }
    case 'array':
      return fc.array(inner(items ?? {}), { maxLength: 3 });
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
