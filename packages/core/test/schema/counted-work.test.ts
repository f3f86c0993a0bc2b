import { describe, expect, test } from 'vitest';
import { createRun } from '../../src/schema/check.ts';
import { compileSchema } from '../../src/schema/compiled-schema.ts';
import { jsonSchema } from '../../src/schema/json-schema.ts';
import type { JsonSchemaObject } from '../../src/schema/json-schema-object.ts';
import { createJsonCheck } from '../../src/schema/json-validator.ts';
import { openDocument } from '../../src/schema/schema-document.ts';

const list = <T>(length: number, item: (index: number) => T): T[] => Array.from({ length }, (_, index) => item(index));
const fields = <T>(length: number, name: string, field: (index: number) => T): Record<string, T> =>
  Object.fromEntries(list(length, (index) => [`${name}${index}`, field(index)]));
/** Each definition refers to the next one. */
const chain = (length: number, last: JsonSchemaObject): Record<string, JsonSchemaObject> =>
  fields(length, 'a', (index) => (index === length - 1 ? last : { $ref: `#/$defs/a${index + 1}` }));

/** The steps of a check without a limit, and its result. */
function measure(schema: JsonSchemaObject, value: unknown) {
  const run = createRun();
  const result = createJsonCheck(openDocument(schema, 'data'))(value, run);
  return { steps: run.steps.taken, result };
}

const read = (schema: JsonSchemaObject) => () => jsonSchema(schema, { origin: 'data' });
const validate = (schema: JsonSchemaObject, value: unknown) => read(schema)()['~standard'].validate(value);

describe('[X26] a schema that is data', () => {
  test('takes a step for each key that is listed, and lists the keys of an object once', () => {
    const run = createRun();
    const schema = { allOf: list(100, () => ({ minProperties: 1, maxProperties: 1e6 })) };
    const listed: unknown[] = [];
    const get = run.keys.get.bind(run.keys);
    run.keys.get = (object) => {
      const known = get(object);
      if (known === undefined) listed.push(object);
      return known;
    };
    const value = fields(10_000, 'k', () => 0);
    expect(createJsonCheck(openDocument(schema, 'data'))(value, run)).toEqual({ value });
    expect(listed).toEqual([value]);
    // Once for the copy, and once for all schemas that need them.
    expect(run.steps.taken).toBeGreaterThan(20_000);
  });

  test('takes steps for the keys of an object in every keyword that needs them', () => {
    const value = fields(1_000, 'k', () => 0);
    const none = measure({ anyOf: [{ type: 'object' }] }, value).steps;
    for (const keywords of [
      { propertyNames: false },
      { additionalProperties: false },
      { unevaluatedProperties: false },
    ]) {
      const { steps } = measure({ anyOf: [keywords, { type: 'object' }] }, value);
      expect(steps - none).toBeGreaterThan(1_000);
    }
  });

  test('may not have long URLs, nor short ones that become long', () => {
    const long = 'a'.repeat(501);
    for (const keyword of ['$schema', '$id', '$anchor', '$ref'])
      expect(read({ properties: { a: { [keyword]: long } } })).toThrow(`"${keyword}" has 501 characters`);
    const nested = list(10, () => 0).reduce<JsonSchemaObject>(
      (inner) => ({ $id: `${'a'.repeat(400)}/`, properties: { a: inner } }),
      {},
    );
    expect(
      read({ $id: 'https://a.example/', allOf: [nested, { $ref: '#' }], properties: { b: { $ref: '#/allOf/0' } } }),
    ).toThrow('address of more than 2,000 characters');
  });

  test('takes steps for the length of URLs that are resolved', () => {
    const steps = (base: string): number => {
      const root = {
        $id: `https://a.example/${base}/`,
        properties: { z: { $ref: '#/$defs/d1' } },
        $defs: fields(100, 'd', (index) => ({ $id: `b${index}`, $anchor: 'c' })),
      };
      const document = openDocument(root, 'code');
      document.resolve(root.properties.z);
      return document.steps.taken;
    };
    expect(steps('a'.repeat(480)) - steps('a')).toBeGreaterThan(100 * (480 / 32) * 4);
  });

  test('shortens long keys in what it shows, and takes steps for their text', () => {
    const schema = { type: 'object', additionalProperties: { items: { type: 'string' } } };
    const check = compileSchema(read(schema)());
    const key = 'k'.repeat(100_000);
    const result = check.validate({ [key]: list(100, () => 1) });
    expect(result).toMatchObject({ ok: false, problems: { length: 51 } });
    expect(JSON.stringify(result).length).toBeLessThan(20_000);
    expect(JSON.stringify(result)).toContain(`${'k'.repeat(100)}…`);
    const [long, short] = [measure(schema, { [key]: list(100, () => 1) }), measure(schema, { k: list(100, () => 1) })];
    expect(long.steps - short.steps).toBeGreaterThan(1_000);
  });

  test('finds each of two unknown keys with the same beginning', () => {
    const [one, other] = [`${'k'.repeat(200)}1`, `${'k'.repeat(200)}2`];
    expect(validate({ additionalProperties: false }, { [one]: 1, [other]: 1 })).toMatchObject({
      issues: [{ path: [one] }, { path: [other] }],
    });
  });

  test('lists 50 problems, and says how many more there are', () => {
    const { issues = [] } = validate(
      { items: { type: 'string' } },
      list(60, () => 1),
    ) as { issues?: { message: string }[] };
    expect(issues).toHaveLength(51);
    expect(issues.at(-1)).toEqual({ path: [], message: '10 more problems are not listed' });
    expect(jsonSchema({ items: { type: 'string' } })['~standard'].validate(list(60, () => 1))).toMatchObject({
      issues: { length: 60 },
    });
  });

  test('may not name a type twice', () => {
    expect(read({ type: ['null', 'string', 'null'] })).toThrow('a list of them, each once');
    expect(validate({ type: ['null', 'string'] }, null)).toEqual({ value: null });
  });

  test('follows the references to a default once, in steps', () => {
    const schema = (length: number): JsonSchemaObject => ({
      type: 'object',
      properties: fields(50, 'p', () => ({ $ref: '#/$defs/a0' })),
      $defs: chain(length, { default: 7 }),
    });
    const filled = { value: fields(50, 'p', () => 7) };
    const [short, long] = [measure(schema(2), {}), measure(schema(90), {})];
    expect([short.result, long.result]).toEqual([filled, filled]);
    expect(long.steps - short.steps).toBe(88);
    const nothing = { properties: fields(2, 'p', () => ({ $ref: '#/$defs/a0' })), $defs: chain(2, { default: null }) };
    expect(validate(nothing, {})).toEqual({ value: { p0: null, p1: null } });
  });

  test('does not cache long texts, and decides the same for them', () => {
    const schema = { items: { allOf: list(5, () => ({ $ref: '#/$defs/a' })) }, $defs: { a: { minLength: 3 } } };
    const run = createRun();
    const texts = list(3, (index) => 'x'.repeat(17_000) + index);
    expect(createJsonCheck(openDocument(schema, 'data'))([...texts, 'short'], run)).toMatchObject({
      value: { length: 4 },
    });
    expect([...run.decided.values()].flatMap((known) => [...known.keys()])).toEqual(['short']);
  });

  test('takes steps for each constant that a problem shows, and for the text of keys that are compared', () => {
    const constants = (length: number): number => measure({ enum: list(length, (index) => `v${index}`) }, 0).steps;
    expect(constants(100) - constants(50)).toBeGreaterThanOrEqual(500);
    const unique = (key: string): number => measure({ uniqueItems: true }, [{ [key]: 1 }]).steps;
    expect(unique('k'.repeat(32_000)) - unique('k')).toBeGreaterThan(8_000);
  });

  test('takes more steps for a URL with letters that have to be encoded', () => {
    const url = (letter: string): number => measure({ format: 'url' }, `http://${letter.repeat(8_000)}`).steps;
    expect(url('ä')).toBeGreaterThan(5 * url('a'));
  });

  test('may not have a chain of references that would overflow the stack', () => {
    const schema = (length: number): JsonSchemaObject => ({
      type: 'object',
      properties: { p: { $ref: '#/$defs/a0' } },
      $defs: chain(length, { type: 'string' }),
    });
    expect(read(schema(1_500))).toThrow('a chain of more than 100 schemas');
    expect(read({ ...schema(0), $defs: Object.fromEntries(Object.entries(chain(150, {})).reverse()) })).toThrow(
      'a chain of more than 100 schemas',
    );
    expect(compileSchema(read(schema(99))()).validate({ p: 'x' })).toEqual({ ok: true, value: { p: 'x' } });
  });

  test('may have many definitions that hold each other', () => {
    const definitions = fields(1_500, 'a', (index) => ({
      type: 'object',
      properties: { next: { $ref: `#/$defs/a${Math.min(index + 1, 1_499)}` } },
    }));
    const schema = { type: 'object', properties: { p: { $ref: '#/$defs/a0' } }, $defs: definitions };
    expect(compileSchema(read(schema)()).validate({ p: { next: { other: 1 } } })).toMatchObject({
      ok: false,
      problems: [{ path: 'p.next.other' }],
    });
  });
});
