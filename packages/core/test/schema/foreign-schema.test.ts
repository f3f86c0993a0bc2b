import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { jsonSchema as aiJsonSchema, asSchema, zodSchema } from 'ai';
import { type } from 'arktype';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { SchemaError } from '../../src/errors.ts';
import { compileForeignSchema } from '../../src/schema/compiled-schema.ts';

test('[T5] a schema of the AI SDK without a validator accepts every value, as the AI SDK does', () => {
  const document = { type: 'object', properties: { a: { type: 'string' } } } as const;
  const compiled = compileForeignSchema(aiJsonSchema(document));
  expect(compiled.jsonSchema()).toEqual(document);
  expect(compiled.validate({ a: 1, b: 2 })).toEqual({ ok: true, value: { a: 1, b: 2 } });
});

test.each<[string, unknown]>([
  ['zodSchema()', zodSchema(z.object({ a: z.string(), n: z.number().default(1) }))],
  ['a zod schema', z.object({ a: z.string(), n: z.number().default(1) })],
  ['asSchema()', asSchema(z.object({ a: z.string(), n: z.number().default(1) }))],
  ['a valibot schema', toStandardJsonSchema(v.object({ a: v.string(), n: v.optional(v.number(), 1) }))],
  ['a lazy schema', () => zodSchema(z.object({ a: z.string(), n: z.number().default(1) }))],
  ['a lazy Standard Schema', () => z.object({ a: z.string(), n: z.number().default(1) })],
])('[T5] %s keeps its own strictness: an extra key is dropped, not refused', async (_, schema) => {
  const compiled = compileForeignSchema(schema);
  expect(await compiled.jsonSchema()).toMatchObject({
    type: 'object',
    properties: { a: { type: 'string' } },
    additionalProperties: false,
  });
  expect(await compiled.validate({ a: 'x', b: 2 })).toEqual({ ok: true, value: { a: 'x', n: 1 } });
  expect(await compiled.validate({ a: 1 })).toMatchObject({ ok: false, problems: [{ path: 'a' }] });
});

test('a strict schema refuses extra keys and names them', async () => {
  const strict = compileForeignSchema(zodSchema(z.object({ o: z.strictObject({}) })));
  expect(await strict.validate({ o: { x: 1, 'y z': 2 } })).toEqual({
    ok: false,
    problems: [
      { path: 'o.x', message: 'unknown key' },
      { path: 'o["y z"]', message: 'unknown key' },
    ],
  });
});

test('a schema that is a function itself is not taken for a lazy one', () => {
  expect(compileForeignSchema(type({ a: 'string' })).validate({ a: 1 })).toMatchObject({
    ok: false,
    problems: [{ path: 'a' }],
  });
});

test('a JSON Schema may be a promise, and may have the keyword then', async () => {
  expect(await compileForeignSchema(aiJsonSchema(Promise.resolve({ type: 'object' }))).jsonSchema()).toEqual({
    type: 'object',
  });
  const conditional = JSON.parse('{"type":"object","if":{},"then":{"required":["a"]}}');
  expect(compileForeignSchema(aiJsonSchema(conditional)).jsonSchema()).toEqual(conditional);
});

test('a missing schema accepts anything', () => {
  for (const none of [undefined, null]) {
    expect(compileForeignSchema(none).jsonSchema()).toMatchObject({ type: 'object' });
    expect(compileForeignSchema(none).validate({ a: 1 })).toEqual({ ok: true, value: { a: 1 } });
  }
});

test('a Standard Schema without a JSON Schema validates; only advertising it fails, with a hint', () => {
  const compiled = compileForeignSchema(v.object({ a: v.string() }));
  expect(compiled.validate({ a: 'x' })).toEqual({ ok: true, value: { a: 'x' } });
  expect(() => compiled.jsonSchema()).toThrow(/toStandardJsonSchema/);
});

test.each<[string, unknown]>([
  ['a zod 3 lookalike', { _def: { typeName: 'ZodObject' }, safeParseAsync: () => undefined }],
  ['an object', {}],
  ['a text', 'object'],
  ['a number', 1],
])('%s is refused', (_, schema) => {
  expect(() => compileForeignSchema(schema)).toThrow(SchemaError);
});

test('a lazy schema is resolved once, when it is needed, and the result is checked', async () => {
  let asked = 0;
  const compiled = compileForeignSchema(() => {
    asked++;
    return aiJsonSchema({ type: 'object' });
  });
  expect(asked).toBe(0);
  await compiled.validate({});
  await compiled.jsonSchema();
  expect(asked).toBe(1);
  expect(compileForeignSchema(() => 5).validate({})).toMatchObject({
    ok: false,
    problems: [{ message: expect.stringContaining('lazy schema') }],
  });
});

const issue = { path: ['a', 0], message: 'is wrong' };
const found = [{ path: 'a[0]', message: 'is wrong' }];

test.each<[string, unknown, unknown]>([
  ['issues', { issues: [issue] }, found],
  ['a cause with issues', Object.assign(new Error('outer'), { cause: { issues: [issue] } }), found],
  ['a cause that is the issues', Object.assign(new Error('outer'), { cause: [issue] }), found],
  ['only a message', new Error('just no'), [{ path: '', message: 'just no' }]],
  ['nothing', undefined, [{ path: '', message: 'does not fit the schema' }]],
])('an error with %s becomes problems', (_, error, problems) => {
  const schema = aiJsonSchema({ type: 'object' }, { validate: () => ({ success: false, error: error as Error }) });
  expect(compileForeignSchema(schema).validate({})).toEqual({ ok: false, problems });
});

test('a validator that throws, rejects or returns nothing is a problem, not an exception', async () => {
  const validators = [
    () => {
      throw new Error('bang');
    },
    () => Promise.reject(new Error('bang')),
    () => undefined as never,
  ];
  for (const validate of validators) {
    const schema = aiJsonSchema({ type: 'object' }, { validate });
    expect(await compileForeignSchema(schema).validate({})).toMatchObject({ ok: false, problems: [{ path: '' }] });
  }
});
