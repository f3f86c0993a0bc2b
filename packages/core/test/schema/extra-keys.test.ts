import { describe, expect, test } from 'vitest';
import { closeObjects } from '../../src/schema/close-objects.ts';
import { compileExtraKeys } from '../../src/schema/extra-keys.ts';
import type { JsonSchemaObject } from '../../src/schema/json-schema-object.ts';

// Written as a literal, the keyword `then` would make the schema look like a promise.
const whenTrue = (schema: JsonSchemaObject): JsonSchemaObject => Object.fromEntries([['then', schema]]);

function extraPaths(schema: JsonSchemaObject, value: unknown): readonly string[] {
  return compileExtraKeys(closeObjects(schema))(value).map(({ path }) => path);
}

const object = (properties: JsonSchemaObject, rest: JsonSchemaObject = {}): JsonSchemaObject => ({
  type: 'object',
  properties,
  ...rest,
});

test('[T18] every extra key is named with its full path, at any depth', () => {
  const schema = object({
    a: {},
    items: { type: 'array', items: object({ price: {} }) },
    pair: { type: 'array', prefixItems: [object({ l: {} })], items: object({ r: {} }) },
    byName: { type: 'object', additionalProperties: object({ n: {} }) },
    byPattern: { type: 'object', patternProperties: { '^x': object({ p: {} }) }, additionalProperties: false },
    both: { allOf: [object({ m: {} }), object({ n: {} })] },
  });
  const value = {
    a: { anything: 1 },
    b: 1,
    items: [{ price: 1 }, {}, { price: 1, prize: 2 }],
    pair: [{ r: 1 }, { l: 1 }],
    byName: { 'odd key': { n: 1, m: 1 } },
    byPattern: { x1: { p: 1, q: 1 }, y: 1 },
    both: { m: 1, n: 1, o: 1 },
  };
  expect(extraPaths(schema, value)).toEqual([
    'b',
    'items[2].prize',
    'pair[0].r',
    'pair[1].l',
    'byName["odd key"].m',
    'byPattern.y',
    'byPattern.x1.q',
    'both.o',
  ]);
});

test('[T18] the message lists the keys that are known there', () => {
  const find = compileExtraKeys(closeObjects(object({ a: {}, b: object({}) })));
  expect(find({ c: 1, b: { d: 1 } })).toEqual([
    { path: 'c', message: 'unknown key; known here: "a", "b"' },
    { path: 'b.d', message: 'unknown key; no keys are known here' },
  ]);
});

test('a long list of known keys is cut', () => {
  const names = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, {}]));
  expect(compileExtraKeys(closeObjects(object(names)))({ x: 1 })[0]?.message).toMatch(/"k39" and 10 more$/);
});

test('other keys are checked by the schema for additional ones, declared keys are not', () => {
  const schema = object({ a: object({ x: {} }) }, { additionalProperties: object({ y: {} }) });
  expect(extraPaths(schema, { a: { x: 1 }, b: { y: 1 }, c: { x: 1 } })).toEqual(['c.x']);
});

test('values that are not objects, and keys without a value, cause no problem', () => {
  const schema = object({ a: object({}), list: { type: 'array', items: object({}) } });
  for (const value of [null, 1, 'x', [], { a: 1, list: {} }, { a: [], list: [1, null] }, { b: undefined }])
    expect(extraPaths(schema, value)).toEqual([]);
});

test('names that every object inherits are ordinary extra keys', () => {
  expect(extraPaths(object({ a: {} }), JSON.parse('{"__proto__":1,"constructor":1,"toString":1}'))).toEqual([
    '__proto__',
    'constructor',
    'toString',
  ]);
});

describe('unions', () => {
  const circle = object({ kind: { const: 'circle' }, r: { type: 'number' } }, { required: ['kind'] });
  const square = object({ kind: { enum: ['square', 'box'] }, side: object({ n: {} }) }, { required: ['kind'] });
  const shape = object({ shape: { oneOf: [circle, square] } });

  test('are checked by the alternative that a constant selects, even if its other fields are wrong', () => {
    expect(extraPaths(shape, { shape: { kind: 'box', r: 1, side: { o: 1 } } })).toEqual(['shape.r', 'shape.side.o']);
    expect(extraPaths(shape, { shape: { kind: 'circle', r: 'wrong', side: 1 } })).toEqual(['shape.side']);
  });

  test('without a constant are checked by the alternative that fits when extra keys are ignored', () => {
    const union = {
      anyOf: [
        object({ a: { type: 'string' } }, { required: ['a'] }),
        object({ b: { type: 'string' } }, { required: ['b'] }),
      ],
    };
    expect(extraPaths(union, { b: 'x', c: 1 })).toEqual(['c']);
    expect(extraPaths(union, { a: 'x', b: 1 })).toEqual(['b']);
  });

  test('take the alternative with the fewest extra keys', () => {
    const union = { anyOf: [object({ a: {} }), object({ a: {}, b: {} })] };
    expect(extraPaths(union, { a: 1, b: 1 })).toEqual([]);
    expect(extraPaths(union, { a: 1, b: 1, c: 1 })).toEqual(['c']);
  });

  test('that no alternative fits are left to the schema itself', () => {
    const union = {
      anyOf: [
        object({ a: { type: 'string' } }, { required: ['a'] }),
        object({ b: { type: 'string' } }, { required: ['b'] }),
      ],
    };
    expect(extraPaths(union, { c: 1 })).toEqual([]);
    expect(extraPaths(shape, { shape: { kind: 'oval', q: 1 } })).toEqual([]);
  });

  test('do not need the constant in the value', () => {
    const tagged = object({ kind: { const: 'a' }, x: {} });
    const other = object({ y: { type: 'number' } }, { required: ['y'] });
    expect(extraPaths({ anyOf: [tagged, other] }, { x: 1, z: 1 })).toEqual(['z']);
  });

  test('of which several fit know the keys of each', () => {
    const schema = { ...object({ k: {} }), anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] };
    expect(extraPaths(schema, { k: 1, a: 1, b: 1, c: 1 })).toEqual(['c']);
  });

  test('with null are clear', () => {
    expect(
      extraPaths(object({ a: { anyOf: [object({ b: { type: 'string' } }), { type: 'null' }] } }), {
        a: { b: 1, c: 1 },
      }),
    ).toEqual(['a.c']);
  });

  test('of references are followed', () => {
    const schema = object(
      { at: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] } },
      { $defs: { a: circle, b: square } },
    );
    expect(extraPaths(schema, { at: { kind: 'circle', side: 1 } })).toEqual(['at.side']);
  });
});

test('a level that several schemas describe knows the keys of those that apply', () => {
  const schema = {
    ...object({ kind: {} }),
    anyOf: [object({ a: { type: 'string' } }, { required: ['a'] }), { required: ['b'] }],
    if: { properties: { kind: { const: 'x' } }, required: ['kind'] },
    ...whenTrue({ properties: { onX: object({ deep: {} }) } }),
    else: { properties: { otherwise: {} } },
    dependentSchemas: { b: { properties: { besideB: {} } } },
  };
  expect(extraPaths(schema, { kind: 'x', a: '', onX: { deep: 1 }, otherwise: 1, besideB: 1 })).toEqual([
    'otherwise',
    'besideB',
  ]);
  expect(extraPaths(schema, { kind: 'y', b: 1, besideB: 1, otherwise: 1, onX: 1 })).toEqual(['onX']);
  expect(extraPaths(schema, { kind: 'x', b: 1, onX: { deep: 1, shallow: 1 } })).toEqual(['onX.shallow']);
});

test('a recursive schema is followed to the depth of the value', () => {
  const tree = object({ kids: { type: 'array', items: { $ref: '#' } } });
  expect(extraPaths(tree, { kids: [{ kids: [{ kids: [], x: 1 }] }] })).toEqual(['kids[0].kids[0].x']);
});

test('a key that two schemas refuse is named once', () => {
  const closed = { properties: { a: {} }, additionalProperties: false };
  expect(compileExtraKeys({ allOf: [closed, closed] })({ b: 1 })).toHaveLength(1);
});

test('draft 7 refuses nothing by keywords next to a reference', () => {
  const definitions = { a: { properties: { x: {} }, additionalProperties: false } };
  const schema = { $ref: '#/definitions/a', additionalProperties: false, definitions };
  const draft7 = { ...schema, $schema: 'http://json-schema.org/draft-07/schema#' };
  expect(compileExtraKeys(draft7)({ x: 1, y: 1 }).map(({ path }) => path)).toEqual(['y']);
  expect(compileExtraKeys(schema)({ x: 1 }).map(({ path }) => path)).toEqual(['x']);
});
