import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SchemaError } from '../../src/errors.ts';
import { compileOutputSchema, compileSchema } from '../../src/schema/compiled-schema.ts';
import { jsonSchema } from '../../src/schema/json-schema.ts';
import { assertObjectSchema } from '../../src/schema/object-schema.ts';
import { openDocument } from '../../src/schema/schema-document.ts';
import type { CompiledSchema, SchemaResult } from '../../src/schema/schema-result.ts';

/** The same tool input in every supported kind of schema. */
const orders: Record<string, unknown> = {
  zod: z.object({
    id: z.string().describe('which order'),
    count: z.int().default(1),
    lines: z.array(z.object({ sku: z.string() })).optional(),
    note: z.object({ text: z.string() }).nullable().optional(),
    labels: z.record(z.string(), z.string()).optional(),
    raw: z.looseObject({ a: z.number() }).optional(),
  }),
  'zod strict': z.strictObject({
    id: z.string().describe('which order'),
    count: z.int().default(1),
    lines: z.array(z.strictObject({ sku: z.string() })).optional(),
    note: z.strictObject({ text: z.string() }).nullable().optional(),
    labels: z.record(z.string(), z.string()).optional(),
    raw: z.looseObject({ a: z.number() }).optional(),
  }),
  valibot: toStandardJsonSchema(
    v.object({
      id: v.pipe(v.string(), v.description('which order')),
      count: v.optional(v.pipe(v.number(), v.integer()), 1),
      lines: v.optional(v.array(v.object({ sku: v.string() }))),
      note: v.optional(v.nullable(v.object({ text: v.string() }))),
      labels: v.optional(v.record(v.string(), v.string())),
      raw: v.optional(v.looseObject({ a: v.number() })),
    }),
  ),
  arktype: type({
    id: type('string').describe('which order'),
    count: 'number.integer = 1',
    'lines?': type({ sku: 'string' }).array(),
    'note?': type({ text: 'string' }).or('null'),
    'labels?': 'Record<string, string>',
    'raw?': { a: 'number', '[string]': 'unknown' },
  }),
  'jsonSchema()': jsonSchema(orderJsonSchema()),
  'a JSON Schema': orderJsonSchema(),
};

function orderJsonSchema() {
  return {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'which order' },
      count: { type: 'integer', default: 1 },
      lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] } },
      note: {
        anyOf: [{ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }, { type: 'null' }],
      },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      raw: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: true },
    },
    required: ['id'],
  };
}

function run(compiled: CompiledSchema, value: unknown): SchemaResult {
  const result = compiled.validate(value);
  expect(result).not.toBeInstanceOf(Promise);
  return result as SchemaResult;
}

function paths(result: SchemaResult): readonly string[] {
  return result.ok ? [] : result.problems.map(({ path }) => path);
}

describe.each(Object.keys(orders))('%s', (name) => {
  const compiled = compileSchema(orders[name]);

  test('[T5] the advertised schema is closed at every level that is not open explicitly, and has its descriptions', () => {
    expect(compiled.jsonSchema()).toMatchObject({
      type: 'object',
      properties: {
        id: { type: 'string', description: 'which order' },
        lines: { items: { additionalProperties: false } },
        note: {
          anyOf: expect.arrayContaining([expect.objectContaining({ type: 'object', additionalProperties: false })]),
        },
        labels: { additionalProperties: { type: 'string' } },
      },
      additionalProperties: false,
    });
    const { raw } = (compiled.jsonSchema() as { properties: Record<string, Record<string, unknown>> }).properties;
    expect(raw?.additionalProperties).not.toBe(false);
    expect(raw).toHaveProperty('additionalProperties');
  });

  test('[T20] the value is the one that the schema parsed', () => {
    const value = { id: 'o1', lines: [{ sku: 's' }], note: null, labels: { any: 'x' }, raw: { a: 1, b: 2 } };
    expect(run(compiled, value)).toEqual({ ok: true, value: { ...value, count: 1 } });
  });

  test('[T18] an extra key at any depth fails and is named once, and so is every other problem', () => {
    const value = {
      id: 5,
      lines: [{ sku: 's' }, { sku: 's', size: 1 }],
      note: { text: 't', at: 1 },
      labels: { x: 'y' },
      raw: { a: 1, b: 2 },
      colour: 'red',
    };
    expect([...paths(run(compiled, value))].sort()).toEqual(['colour', 'id', 'lines[1].size', 'note.at']);
  });

  test('[T18] an extra key names the known ones', () => {
    const result = run(compiled, { id: 'o', lines: [{ sku: 's', size: 1 }] });
    expect(result).toEqual({
      ok: false,
      problems: [{ path: 'lines[0].size', message: 'unknown key; known here: "sku"' }],
    });
  });

  test('[T19] nothing is coerced', () => {
    expect(paths(run(compiled, { id: 'o', count: '5' }))).toEqual(['count']);
    expect(paths(run(compiled, { id: 7 }))).toEqual(['id']);
  });

  test('a value that is not an object is refused', () => {
    for (const value of [null, undefined, 'x', 1, []]) expect(run(compiled, value).ok).toBe(false);
  });

  test('a key from an object’s prototype is an extra key', () => {
    expect(paths(run(compiled, JSON.parse('{"id":"o","__proto__":{"a":1}}')))).toEqual(['__proto__']);
  });

  test('is compiled once', () => {
    expect(compileSchema(orders[name])).toBe(compiled);
  });
});

test('[T19] a value is coerced if the schema says so', () => {
  const compiled = compileSchema(z.object({ n: z.coerce.number() }));
  expect(run(compiled, { n: '5' })).toEqual({ ok: true, value: { n: 5 } });
});

test('[T20] transforms reach the tool', () => {
  expect(run(compileSchema(z.object({ s: z.string().transform((text) => text.length) })), { s: 'abc' })).toEqual({
    ok: true,
    value: { s: 3 },
  });
  expect(run(compileSchema(type({ n: 'string.numeric.parse' })), { n: '42' })).toEqual({ ok: true, value: { n: 42 } });
});

test('an asynchronous schema returns a promise, also for extra keys', async () => {
  const compiled = compileSchema(z.object({ a: z.string().refine(async (text) => text !== 'taken', 'is taken') }));
  expect(compiled.validate({ a: 'free' })).toBeInstanceOf(Promise);
  expect(await compiled.validate({ a: 'free' })).toEqual({ ok: true, value: { a: 'free' } });
  expect(await compiled.validate({ a: 'taken', b: 1 })).toEqual({
    ok: false,
    problems: [
      { path: 'b', message: 'unknown key; known here: "a"' },
      { path: 'a', message: 'is taken' },
    ],
  });
});

test('a validator that throws or rejects is a problem, not an exception', async () => {
  const throwing = compileSchema(z.object({ a: z.string().refine(() => bang()) }));
  expect(await throwing.validate({ a: 'x' })).toEqual({
    ok: false,
    problems: [{ path: '', message: 'cannot be checked: bang' }],
  });
  expect(await throwing.validate({ a: 'x', b: 1 })).toMatchObject({
    ok: false,
    problems: [{ path: 'b' }, { path: '' }],
  });
  expect(run(compileSchema(standardSchema({ validate: bang })), {})).toMatchObject({ ok: false });
  expect(run(compileSchema(standardSchema({ validate: () => undefined })), {})).toMatchObject({ ok: false });
});

function bang(): never {
  throw new Error('bang');
}

function standardSchema(props: Record<string, unknown>): object {
  const jsonSchema = { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) };
  return {
    '~standard': { version: 1, vendor: 'homemade', jsonSchema, validate: (value: unknown) => ({ value }), ...props },
  };
}

test('paths of issues may hold keys, symbols or segments, and a message may be missing', () => {
  const issues = [
    { message: 'a', path: ['items', 2, { key: 'price' }] },
    { message: 'b', path: [{ key: 'odd key' }, Symbol('s')] },
    { message: '' },
    { path: [] },
  ];
  const result = run(compileSchema(standardSchema({ validate: () => ({ issues }) })), {});
  expect(result).toEqual({
    ok: false,
    problems: [
      { path: 'items[2].price', message: 'a' },
      { path: '["odd key"]["Symbol(s)"]', message: 'b' },
      { path: '', message: 'does not fit the schema' },
      { path: '', message: 'does not fit the schema' },
    ],
  });
  expect(run(compileSchema(standardSchema({ validate: () => ({ issues: [] }) })), {})).toMatchObject({
    ok: false,
    problems: [{}],
  });
});

test('the problem of a zod union says what each alternative lacks', () => {
  const compiled = compileSchema(z.object({ u: z.union([z.string(), z.object({ a: z.number() })]) }));
  const result = run(compiled, { u: { a: 'x' } });
  expect(result).toMatchObject({
    ok: false,
    problems: [{ path: 'u', message: expect.stringMatching(/\(1\).*string.*\(2\) a: .*number/) }],
  });
});

test('a discriminated union is closed alternative by alternative', () => {
  const compiled = compileSchema(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), x: z.string() }),
      z.object({ kind: z.literal('b'), y: z.string() }),
    ]),
  );
  expect(compiled.jsonSchema()).toMatchObject({
    type: 'object',
    oneOf: [{ additionalProperties: false }, { additionalProperties: false }],
  });
  expect(run(compiled, { kind: 'a', x: '' }).ok).toBe(true);
  expect(paths(run(compiled, { kind: 'a', x: '', y: '' }))).toEqual(['y']);
});

test('an intersection and a recursive schema are closed', () => {
  const Named = z.object({ name: z.string() }).meta({ id: 'NamedForTest' });
  const Folder = z.object({
    owner: Named,
    get kids() {
      return z.array(Folder);
    },
  });
  const compiled = compileSchema(z.object({ folder: Folder }).and(Named));
  expect(run(compiled, { name: 'n', folder: { owner: { name: 'o' }, kids: [] } }).ok).toBe(true);
  const value = {
    name: 'n',
    x: 1,
    folder: { owner: { name: 'o', x: 1 }, kids: [{ owner: { name: 'o' }, kids: [], x: 1 }] },
  };
  expect(paths(run(compiled, value))).toEqual(['x', 'folder.owner.x', 'folder.kids[0].x']);
});

test('an intersection of valibot objects is closed as one', () => {
  const compiled = compileSchema(
    toStandardJsonSchema(v.intersect([v.object({ a: v.string() }), v.object({ b: v.string() })])),
  );
  expect(run(compiled, { a: '', b: '' })).toEqual({ ok: true, value: { a: '', b: '' } });
  expect(paths(run(compiled, { a: '', b: '', c: '' }))).toEqual(['c']);
});

describe('[T4] a schema that cannot be used is refused', () => {
  test.each<[string, unknown, RegExp]>([
    [
      'valibot without its converter',
      v.object({ a: v.string() }),
      /toStandardJsonSchema\(\) of @valibot\/to-json-schema/,
    ],
    [
      'a Standard Schema without a JSON Schema',
      { '~standard': { version: 1, vendor: 'homemade', validate: () => ({ value: 1 }) } },
      /homemade schema\. Add "~standard\.jsonSchema" to it, or pass a JSON Schema with jsonSchema\(\)/,
    ],
    ['zod with a date', z.object({ d: z.date() }), /Date cannot be represented in JSON Schema\. .*jsonSchema\(\)/],
    ['zod with a bigint', z.object({ d: z.bigint() }), /BigInt cannot be represented/],
    ['zod with a bare transform', z.object({ d: z.transform(String) }), /Transforms cannot be represented/],
    ['valibot with a date', toStandardJsonSchema(v.object({ d: v.date() })), /"date" schema cannot be converted/],
    [
      'a converter that gives nothing',
      standardSchema({ jsonSchema: { input: () => undefined } }),
      /its converter gave undefined/,
    ],
    ['a text', 'object', /got string/],
    ['null', null, /got null/],
    ['undefined', undefined, /got undefined/],
    ['a function', () => ({}), /got function/],
    ['an array', [], /got an array/],
    ['an instance of a class', new Map(), /got object/],
    [
      'a schema of the AI SDK',
      { [Symbol.for('vercel.ai.schema')]: true, jsonSchema: {} },
      /pass the JSON Schema itself/,
    ],
    [
      'an object of schemas',
      { city: z.string(), days: z.number().optional() },
      /got an object whose values are schemas\. Make it one schema, e\.g\. z\.object\(\{ city: … \}\)/,
    ],
    ['a malformed JSON Schema', { type: 'object', properties: { a: { type: 'text' } } }, /#\/properties\/a: "type"/],
    ['a text where an object is needed', z.string(), /a schema of an object.*got one of type "string"/],
    ['a nullable object', z.object({}).nullable(), /a schema of an object/],
    ['anything', z.any(), /got one without a type/],
    ['true', jsonSchema(true), /a schema of an object/],
  ])('%s', (_, schema, message) => {
    expect(() => compileSchema(schema)).toThrow(SchemaError);
    expect(() => compileSchema(schema)).toThrow(message);
  });

  test('with its code and its cause', () => {
    expect(() => compileSchema(z.object({ d: z.date() }))).toThrow(
      expect.objectContaining({ code: 'schema', cause: expect.any(Error) }),
    );
  });
});

test('a converter that supports only draft 7 is asked for draft 7', () => {
  const input = ({ target }: { target: string }) => {
    if (target !== 'draft-07') throw new Error('unknown target');
    return { type: 'object', properties: { a: {} } };
  };
  expect(compileSchema(standardSchema({ jsonSchema: { input } })).jsonSchema()).toEqual({
    type: 'object',
    properties: { a: {} },
    additionalProperties: false,
  });
});

test('a schema of an object is recognised through references and unions', () => {
  const object = { type: 'object' };
  const good = [
    object,
    { type: ['object'] },
    { properties: {} },
    { anyOf: [object, { properties: {} }] },
    { oneOf: [object] },
    { allOf: [{}, object] },
    { $ref: '#/$defs/o', $defs: { o: object } },
  ];
  for (const schema of good) assertObjectSchema(openDocument(schema));
  const bad = [
    {},
    { type: 'array' },
    { type: ['object', 'null'] },
    { anyOf: [object, { type: 'null' }] },
    { allOf: [{}] },
    { $ref: '#' },
    { $ref: '#/no' },
  ];
  for (const schema of bad) expect(() => assertObjectSchema(openDocument(schema))).toThrow(SchemaError);
});

describe('an output schema', () => {
  test('needs no JSON Schema and is not closed', () => {
    const output = compileOutputSchema(v.looseObject({ a: v.pipe(v.string(), v.transform(Number)) }));
    expect(output.validate({ a: '1', b: 2 })).toEqual({ ok: true, value: { a: 1, b: 2 } });
    expect(output.validate({ a: 1 })).toMatchObject({ ok: false, problems: [{ path: 'a' }] });
    expect(() => output.jsonSchema()).toThrow(SchemaError);
  });

  test('need not be an object', () => {
    const output = compileOutputSchema({ type: 'array', items: { type: 'object', properties: { a: {} } } });
    expect(output.validate([{ a: 1, b: 2 }])).toEqual({ ok: true, value: [{ a: 1, b: 2 }] });
    expect(output.validate(1)).toMatchObject({ ok: false });
    expect(output.jsonSchema()).toEqual({ type: 'array', items: { type: 'object', properties: { a: {} } } });
  });

  test('is compiled once, separately from the same schema as input', () => {
    const schema = z.object({ a: z.string() });
    expect(compileOutputSchema(schema)).toBe(compileOutputSchema(schema));
    expect(compileOutputSchema(schema)).not.toBe(compileSchema(schema));
    expect(() => compileOutputSchema('x')).toThrow(SchemaError);
  });
});
