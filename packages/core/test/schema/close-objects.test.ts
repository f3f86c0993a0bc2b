import { Validator } from '@cfworker/json-schema';
import { describe, expect, test } from 'vitest';
import { closeObjects } from '../../src/schema/close-objects.ts';
import { jsonSchema } from '../../src/schema/json-schema.ts';
import type { JsonSchemaObject } from '../../src/schema/json-schema-object.ts';

// Written as a literal, the keyword `then` would make the schema look like a promise.
const whenTrue = (schema: JsonSchemaObject): JsonSchemaObject => Object.fromEntries([['then', schema]]);

function accepts(schema: JsonSchemaObject, value: unknown): boolean {
  // Another validator than ours, so that the closed schema has the same meaning for all of them.
  return new Validator(structuredClone(schema) as object, '2020-12', false).validate(value).valid;
}

function closesTo(
  schema: JsonSchemaObject,
  { good, bad }: { good: readonly unknown[]; bad: readonly unknown[] },
): void {
  const closed = closeObjects(schema);
  jsonSchema(closed);
  for (const value of good) expect([value, accepts(closed, value)]).toEqual([value, true]);
  for (const value of bad)
    expect([value, accepts(schema, value), accepts(closed, value)]).toEqual([value, true, false]);
}

const object = (properties: JsonSchemaObject, rest: JsonSchemaObject = {}): JsonSchemaObject => ({
  type: 'object',
  properties,
  ...rest,
});

test('[T5] every object level is closed: nested, in lists, tuples, records and unions', () => {
  const leaf = object({ x: {} });
  const schema = object({
    nested: leaf,
    list: { type: 'array', items: leaf },
    tuple: { type: 'array', prefixItems: [leaf], items: leaf },
    record: { type: 'object', additionalProperties: leaf },
    either: { anyOf: [leaf, { type: 'null' }] },
    bare: { type: 'object' },
    untyped: { properties: { x: {} } },
    nullable: { type: ['object', 'null'], properties: { x: {} } },
  });
  const closed = { ...leaf, additionalProperties: false };
  expect(closeObjects(schema)).toEqual({
    type: 'object',
    additionalProperties: false,
    properties: {
      nested: closed,
      list: { type: 'array', items: closed },
      tuple: { type: 'array', prefixItems: [closed], items: closed },
      record: { type: 'object', additionalProperties: closed },
      either: { anyOf: [closed, { type: 'null' }] },
      bare: { type: 'object', additionalProperties: false },
      untyped: { properties: { x: {} }, additionalProperties: false },
      nullable: { type: ['object', 'null'], properties: { x: {} }, additionalProperties: false },
    },
  });
});

test.each<JsonSchemaObject>([
  { type: 'object', additionalProperties: true },
  object({ a: {} }, { additionalProperties: {} }),
  object({ a: {} }, { unevaluatedProperties: { type: 'string' } }),
  object({ a: {} }, { patternProperties: { '^x-': {} } }),
  { type: 'object', propertyNames: { maxLength: 3 } },
  { type: 'object', minProperties: 1 },
  { type: 'object', enum: [{ a: 1 }] },
  { required: ['a'] },
  {},
  { type: 'array', items: true },
])('[T5] a level that is open explicitly stays open: %j', (schema) => {
  expect(closeObjects(schema)).toEqual(schema);
});

test('descriptions and other annotations stay', () => {
  const schema = object(
    { a: { type: 'string', description: 'what it is', examples: ['x'] } },
    { title: 'T', $schema: 'https://json-schema.org/draft/2020-12/schema', 'x-ours': { properties: {} } },
  );
  expect(closeObjects(schema)).toEqual({ ...schema, additionalProperties: false });
});

test('data that resembles a schema, and properties named like keywords, are unchanged', () => {
  const data = { type: 'object', properties: { a: {} } };
  const schema = object({
    properties: { type: 'string' },
    additionalProperties: { type: 'string' },
    allOf: { enum: [data], default: data, examples: [data] },
    $ref: { const: data },
  });
  expect(closeObjects(schema)).toEqual({ ...schema, additionalProperties: false });
});

test('the given schema is not changed', () => {
  const schema = object({ a: object({ b: {} }) });
  const before = structuredClone(schema);
  closeObjects(schema);
  expect(schema).toEqual(before);
});

test('a required name is known, even if no schema describes it', () => {
  closesTo(object({ a: {} }, { required: ['a', 'b'], dependentRequired: { c: ['d'] } }), {
    good: [
      { a: 1, b: 1 },
      { a: 1, b: 1, c: 1, d: 1 },
    ],
    bad: [{ a: 1, b: 1, e: 1 }],
  });
});

test('the value of a key that a pattern describes too stays open', () => {
  const schema = object({ xa: object({ a: {} }) }, { patternProperties: { '^x': object({ b: {} }) } });
  closesTo(schema, { good: [{ xa: { a: 1, b: 1 } }], bad: [] });
});

describe('allOf', () => {
  test('of plain objects with different keys becomes one closed object', () => {
    const schema = {
      description: 'both',
      allOf: [object({ a: {} }, { required: ['a'] }), { allOf: [object({ b: {} })] }],
    };
    expect(closeObjects(schema)).toEqual({
      description: 'both',
      ...object({ a: {}, b: {} }),
      required: ['a'],
      additionalProperties: false,
    });
  });

  test('with a reference knows the keys of the definition, which stays closed elsewhere', () => {
    const schema = {
      allOf: [object({ a: {}, other: { $ref: '#/$defs/b' } }), { $ref: '#/$defs/b' }],
      $defs: { b: object({ b: {} }) },
    };
    closesTo(schema, { good: [{ a: 1, b: 1, other: { b: 1 } }], bad: [{ c: 1 }, { other: { b: 1, a: 1 } }] });
  });

  test('with the same key twice closes the level, and only the value that both describe stays open', () => {
    const schema = {
      allOf: [object({ a: object({ x: {} }), b: object({ y: {} }) }), object({ a: object({ z: {} }) })],
    };
    closesTo(schema, { good: [{ a: { x: 1, z: 1 }, b: { y: 1 } }], bad: [{ c: 1 }, { b: { y: 1, z: 1 } }] });
  });

  test('with a part that is open is open', () => {
    const schema = { allOf: [object({ a: object({ x: {} }) }), object({ b: {} }, { additionalProperties: true })] };
    closesTo(schema, { good: [{ a: { x: 1 }, b: 1, c: 1 }], bad: [{ a: { y: 1 } }] });
    closesTo(
      { allOf: [object({ a: {} }), { type: 'object', patternProperties: { '^x': {} } }] },
      { good: [{ a: 1, c: 1 }], bad: [] },
    );
  });

  test('keeps values open that patterns, other keys or items describe a second time', () => {
    const leaf = (name: string) => object({ [name]: {} });
    closesTo(
      { allOf: [object({ a: leaf('x') }), { type: 'object', additionalProperties: leaf('y') }] },
      { good: [{ a: { x: 1, y: 1 } }], bad: [] },
    );
    closesTo(
      { allOf: [object({ a: leaf('x') }), { type: 'object', patternProperties: { '^a': leaf('y') } }] },
      { good: [{ a: { x: 1, y: 1 } }], bad: [] },
    );
    closesTo(
      {
        allOf: [
          { type: 'array', items: leaf('x') },
          { type: 'array', items: leaf('y') },
        ],
      },
      { good: [[{ x: 1, y: 1 }]], bad: [] },
    );
  });

  test('of unions knows the keys of the alternative that fits', () => {
    const schema = {
      allOf: [
        { anyOf: [object({ a: { type: 'number' } }, { required: ['a'] }), object({ b: {} }, { required: ['b'] })] },
        object({ c: object({ x: {} }) }),
      ],
    };
    closesTo(schema, {
      good: [
        { a: 1, c: {} },
        { b: 1, c: { x: 1 } },
      ],
      bad: [
        { a: 1, d: 1 },
        { a: 1, c: { y: 1 } },
      ],
    });
  });
});

describe('next to properties', () => {
  const own = {
    type: 'object',
    properties: { kind: { enum: ['a', 'b'] }, meta: object({ m: {} }) },
    required: ['kind'],
  };

  test('a union adds its keys, and the whole is closed', () => {
    const schema = {
      ...own,
      oneOf: [object({ kind: { const: 'a' }, x: object({ n: {} }) }), object({ kind: { const: 'b' }, y: {} })],
    };
    closesTo(schema, {
      good: [
        { kind: 'a', x: { n: 1 }, meta: { m: 1 } },
        { kind: 'b', y: 1 },
      ],
      bad: [
        { kind: 'a', y: 1 },
        { kind: 'a', x: { o: 1 } },
        { kind: 'b', meta: { o: 1 } },
      ],
    });
  });

  test('alternatives that only require names do not open it', () => {
    const schema = { type: 'object', properties: { a: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] };
    closesTo(schema, { good: [{ a: 1 }, { b: 1 }], bad: [{ a: 1, c: 1 }] });
    closesTo(
      { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      { good: [{ a: 1 }, { b: 1 }], bad: [{ a: 1, c: 1 }] },
    );
  });

  test('a condition, a dependent schema and a reference add theirs', () => {
    closesTo(
      {
        ...own,
        if: { properties: { kind: { const: 'a' } } },
        ...whenTrue({ properties: { x: object({ n: {} }) } }),
        else: { properties: { y: {} } },
      },
      {
        good: [
          { kind: 'a', x: { n: 1 } },
          { kind: 'b', y: 1 },
        ],
        bad: [
          { kind: 'a', y: 1 },
          { kind: 'a', x: { o: 1 } },
        ],
      },
    );
    closesTo(
      { ...own, dependentSchemas: { meta: { properties: { x: {} } } } },
      { good: [{ kind: 'a', meta: {}, x: 1 }], bad: [{ kind: 'a', x: 1 }] },
    );
    closesTo(
      { ...own, dependencies: { meta: { properties: { x: {} } }, kind: ['meta'] } },
      { good: [{ kind: 'a', meta: {}, x: 1 }], bad: [{ kind: 'a', meta: {}, z: 1 }] },
    );
    closesTo(
      { ...own, $ref: '#/$defs/more', $defs: { more: object({ x: object({ n: {} }) }) } },
      {
        good: [{ kind: 'a', x: { n: 1 } }],
        bad: [
          { kind: 'a', y: 1 },
          { kind: 'a', x: { o: 1 } },
        ],
      },
    );
  });

  test('minProperties does not open levels that the alternatives describe', () => {
    closesTo(
      { type: 'object', minProperties: 1, anyOf: [object({ a: {} }), object({ b: {} })] },
      { good: [{ a: 1 }], bad: [{ c: 1 }] },
    );
  });
});

test('a schema that only tests a value keeps its meaning', () => {
  const test1 = object({ a: { const: 1 } }, { required: ['a'] });
  const schema = object({ a: {}, b: {}, list: { type: 'array', contains: test1 } }, { not: test1 });
  closesTo(schema, { good: [{ a: 2, b: 1 }, { list: [{ a: 1, z: 1 }] }], bad: [{ c: 1 }] });
  expect(accepts(closeObjects(schema), { a: 1, b: 1 })).toBe(false);
});

describe('references', () => {
  test('a recursive definition is closed at every level', () => {
    const tree = object({ kids: { type: 'array', items: { $ref: '#' } } });
    expect(closeObjects(tree)).toEqual({ ...tree, additionalProperties: false });
    const list = {
      $ref: '#/definitions/node',
      definitions: { node: object({ next: { $ref: '#/definitions/node' } }) },
    };
    closesTo(list, { good: [{ next: { next: {} } }], bad: [{ next: { next: { x: 1 } } }] });
  });

  test('closing a recursive definition that is extended ends, and it is open only where it is a part', () => {
    const schema = {
      $ref: '#/$defs/folder',
      $defs: {
        node: {
          type: 'object',
          properties: { name: {}, parent: { $ref: '#/$defs/node' }, up: { $ref: '#/$defs/folder' } },
          minProperties: 0,
        },
        folder: {
          allOf: [{ $ref: '#/$defs/node' }, object({ kids: { type: 'array', items: { $ref: '#/$defs/folder' } } })],
        },
      },
    };
    closesTo(schema, {
      good: [{ name: 'a', kids: [{ name: 'b', kids: [] }], parent: { name: 'p' }, up: { kids: [] } }],
      bad: [{ name: 'a', x: 1 }, { kids: [{ x: 1 }] }, { parent: { name: 'p', kids: [] } }],
    });
  });

  test('a shared definition is not closed below a key that two schemas describe', () => {
    const schema = {
      allOf: [object({ a: { $ref: '#/$defs/x' } }), object({ a: object({ z: {} }), b: { $ref: '#/$defs/x' } })],
      $defs: { x: object({ x: {} }) },
    };
    closesTo(schema, { good: [{ a: { x: 1, z: 1 }, b: { x: 1 } }], bad: [{ b: { x: 1, z: 1 } }] });
  });

  test('references to any place, to true and to false keep their meaning', () => {
    const schema = object(
      {
        a: object({ x: {} }),
        b: { $ref: '#/properties/a' },
        c: { $ref: '#/$defs/any' },
        d: { $ref: '#/$defs/none' },
        'e f': { $ref: '#/$defs/odd~1name%20x' },
      },
      { $defs: { any: true, none: false, 'odd/name x': object({ y: {} }) } },
    );
    closesTo(schema, {
      good: [{ a: { x: 1 }, b: { x: 1 }, c: { q: 1 }, 'e f': { y: 1 } }],
      bad: [{ b: { y: 1 } }, { 'e f': { x: 1 } }],
    });
    expect(accepts(closeObjects(schema), { d: 1 })).toBe(false);
  });

  test('draft 7 ignores keywords next to a reference', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $ref: '#/definitions/a',
      properties: { ignored: {} },
      definitions: { a: object({ x: {} }) },
    };
    expect(closeObjects(schema)).toMatchObject({
      $ref: '#/definitions/a',
      definitions: { a: { additionalProperties: false } },
    });
  });
});

test('a property name that objects inherit stays a property', () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"object","properties":{"constructor":{}}}}}',
  );
  const closed = closeObjects(schema) as { properties: Record<string, unknown> };
  expect(Object.keys(closed.properties)).toEqual(['__proto__']);
  expect(Object.entries(closed.properties)[0]?.[1]).toEqual({
    type: 'object',
    properties: { constructor: {} },
    additionalProperties: false,
  });
});
