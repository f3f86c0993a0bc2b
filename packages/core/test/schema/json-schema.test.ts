import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expect, test } from 'vitest';
import { SchemaError } from '../../src/errors.ts';
import { jsonSchema } from '../../src/schema/json-schema.ts';
import type { JsonSchemaObject } from '../../src/schema/json-schema-object.ts';

// Written as a literal, the keyword `then` would make the schema look like a promise.
const whenTrue = (schema: JsonSchemaObject): JsonSchemaObject => Object.fromEntries([['then', schema]]);

type Issue = readonly [path: readonly unknown[], message: string];

function check(schema: JsonSchemaObject | boolean, value: unknown): StandardSchemaV1.Result<unknown> {
  return jsonSchema(schema)['~standard'].validate(value) as StandardSchemaV1.Result<unknown>;
}

function issues(schema: JsonSchemaObject | boolean, value: unknown): readonly Issue[] {
  return (check(schema, value).issues ?? []).map(({ path, message }) => [path ?? [], message]);
}

function parsed(schema: JsonSchemaObject, value: unknown): unknown {
  const result = check(schema, value);
  expect(result.issues).toBeUndefined();
  return (result as StandardSchemaV1.SuccessResult<unknown>).value;
}

const person = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2 },
    age: { type: 'integer', minimum: 0 },
    role: { enum: ['admin', 'guest'] },
    tags: { type: 'array', items: { type: 'string' } },
  },
  required: ['name', 'age'],
};

describe('problems', () => {
  test('[T18] all problems are listed, each with its path, without the noise of parent keywords', () => {
    expect(issues(person, { name: 'x', role: 'boss', tags: ['a', 1, null] })).toEqual([
      [['age'], 'required, but missing'],
      [['name'], 'expected at least 2 characters, got string "x"'],
      [['role'], 'expected one of "admin", "guest", got string "boss"'],
      [['tags', 1], 'expected string, got number 1'],
      [['tags', 2], 'expected string, got null'],
    ]);
  });

  test('[T19] nothing is coerced: "5" is not an integer, 1 is not a boolean, null is not a text', () => {
    expect(issues(person, { name: 'Ann', age: '5' })).toEqual([[['age'], 'expected integer, got string "5"']]);
    expect(issues({ type: 'boolean' }, 1)).toEqual([[[], 'expected boolean, got number 1']]);
    expect(issues({ type: 'string' }, null)).toEqual([[[], 'expected string, got null']]);
  });

  test.each<[JsonSchemaObject, unknown, Issue]>([
    [{ const: 'a' }, 'b', [[], 'expected "a", got string "b"']],
    [{ type: ['string', 'null'] }, 1, [[], 'expected string or null, got number 1']],
    [{ minimum: 3 }, 2, [[], 'expected at least 3, got number 2']],
    [{ maximum: 3 }, 4, [[], 'expected at most 3, got number 4']],
    [{ exclusiveMinimum: 3 }, 3, [[], 'expected more than 3, got number 3']],
    [{ exclusiveMaximum: 3 }, 3, [[], 'expected less than 3, got number 3']],
    [{ multipleOf: 3 }, 4, [[], 'expected a multiple of 3, got number 4']],
    [{ maxLength: 1 }, 'abc', [[], 'expected at most 1 characters, got 3']],
    [{ pattern: '^a' }, 'b', [[], 'expected a text that matches /^a/, got string "b"']],
    [{ format: 'uuid' }, 'b', [[], 'expected a text in the format "uuid", got string "b"']],
    [{ minItems: 2 }, [1], [[], 'expected at least 2 items, got 1']],
    [{ maxItems: 1 }, [1, 2], [[], 'expected at most 1 items, got 2']],
    [{ uniqueItems: true }, [1, 1], [[], 'expected no item twice']],
    [{ minProperties: 1 }, {}, [[], 'expected at least 1 properties, got 0']],
    [{ maxProperties: 0 }, { a: 1 }, [[], 'expected at most 0 properties, got 1']],
    [{ contains: { type: 'string' } }, [1], [[], 'expected an item that fits {"type":"string"}']],
    [
      { contains: { type: 'string' }, minContains: 2 },
      ['a', 1],
      [[], 'expected at least 2 items that fit {"type":"string"}'],
    ],
    [{ not: { type: 'string' } }, 'a', [[], 'must not fit {"type":"string"}, got string "a"']],
    [{ properties: { a: false } }, { a: 1 }, [['a'], 'not allowed here']],
    [{ prefixItems: [{}], items: false }, [1, 2], [[1], 'unexpected item: the list ends before it']],
    [
      { propertyNames: { maxLength: 1 } },
      { ab: 1 },
      [['ab'], 'the key itself is wrong: expected at most 1 characters, got 2'],
    ],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, [['b'], 'required beside "a", but missing']],
    [{ dependencies: { a: ['b'] } }, { a: 1 }, [['b'], 'required beside "a", but missing']],
    [{ additionalProperties: false, properties: { a: {} } }, { b: 1 }, [['b'], 'unknown key; known here: "a"']],
    [{ additionalProperties: { type: 'string' } }, { b: 1 }, [['b'], 'expected string, got number 1']],
    [{ $ref: '#/$defs/n', $defs: { n: { type: 'number' } } }, 'x', [[], 'expected number, got string "x"']],
    [
      { if: { type: 'string' }, ...whenTrue({ minLength: 2 }) },
      'x',
      [[], 'expected at least 2 characters, got string "x"'],
    ],
    [{ allOf: [{ type: 'string' }, { minLength: 2 }] }, 'x', [[], 'expected at least 2 characters, got string "x"']],
  ])('%j refuses %j and says why', (schema, value, issue) => {
    expect(issues(schema, value)).toEqual([issue]);
  });

  test('a union names the problems of the alternative that was meant', () => {
    const shape = {
      oneOf: [
        {
          type: 'object',
          properties: { kind: { const: 'circle' }, radius: { type: 'number' } },
          required: ['kind', 'radius'],
        },
        {
          type: 'object',
          properties: { kind: { const: 'square' }, side: { type: 'number' } },
          required: ['kind', 'side'],
        },
      ],
    };
    expect(issues(shape, { kind: 'square', side: 'x' })).toEqual([[['side'], 'expected number, got string "x"']]);
  });

  test('a union without a clear alternative says what each of them lacks', () => {
    const union = { properties: { id: { anyOf: [{ type: 'string' }, { type: 'null' }] } } };
    expect(issues(union, { id: 4 })).toEqual([
      [['id'], 'fits none of 2 alternatives: (1) expected string, got number 4; (2) expected null, got number 4'],
    ]);
  });

  test('oneOf says when several alternatives fit', () => {
    expect(issues({ oneOf: [{ type: 'number' }, { minimum: 0 }, { type: 'string' }] }, 1)).toEqual([
      [[], 'fits 2 of 3 alternatives; it must fit exactly one'],
    ]);
  });

  test('unevaluatedProperties does not call a known key with a wrong value unknown', () => {
    const schema = { allOf: [{ properties: { a: { type: 'string' } } }], unevaluatedProperties: false };
    expect(issues(schema, { a: 1, b: 2 })).toEqual([
      [['b'], 'unknown key; known here: "a"'],
      [['a'], 'expected string, got number 1'],
    ]);
  });

  test('a path distinguishes an index from a key and decodes JSON pointers', () => {
    const schema = { additionalProperties: { type: 'array', items: { type: 'number' } } };
    expect(issues(schema, { 'a/b~c %d#é': [1, 'x'], 0: ['y'] })).toEqual([
      [['0', 0], 'expected number, got string "y"'],
      [['a/b~c %d#é', 1], 'expected number, got string "x"'],
    ]);
  });

  test('values that JSON does not have are a problem, not an exception', () => {
    for (const value of [undefined, () => 1, 1n, Symbol('s')]) expect(issues(true, value)).toHaveLength(1);
    expect(issues({}, { a: 1n })).toHaveLength(0);
    expect(issues({ properties: { a: {} } }, { a: 1n })[0]?.[1]).toContain('cannot be checked');
  });

  test('true accepts everything and false nothing', () => {
    expect(issues(true, { a: 1 })).toEqual([]);
    expect(issues(false, 1)).toEqual([[[], 'not allowed here']]);
    expect(jsonSchema(true)['~standard'].jsonSchema.input({ target: 'draft-2020-12' })).toEqual({});
  });
});

describe('defaults', () => {
  test('[T20] defaults of missing properties are filled in, at any depth, through references and allOf', () => {
    const schema = {
      properties: {
        limit: { type: 'integer', default: 10 },
        sort: { $ref: '#/$defs/sort' },
        page: { type: 'object', properties: { size: { default: 5 } } },
        rows: {
          type: 'array',
          prefixItems: [{ properties: { head: { default: true } } }],
          items: { properties: { on: { default: false } } },
        },
      },
      allOf: [{ properties: { extra: { default: 'e' } } }],
      $defs: { sort: { type: 'string', default: 'asc' } },
    };
    expect(parsed(schema, { page: {}, rows: [{}, {}] })).toEqual({
      limit: 10,
      sort: 'asc',
      page: { size: 5 },
      rows: [{ head: true }, { on: false }],
      extra: 'e',
    });
  });

  test('[T20] defaults are filled in inside the values of a record, by pattern and otherwise', () => {
    const withDefault = (value: string) => ({ type: 'object', properties: { how: { default: value } } });
    const schema = {
      properties: { named: { type: 'object' } },
      patternProperties: { '^x-': withDefault('pattern') },
      additionalProperties: withDefault('other'),
    };
    expect(parsed(schema, { named: {}, 'x-a': {}, b: {}, c: { how: 'given' } })).toEqual({
      named: {},
      'x-a': { how: 'pattern' },
      b: { how: 'other' },
      c: { how: 'given' },
    });
    const foreign = jsonSchema(schema, { origin: 'data' });
    // Patterns of foreign schemas are not run, so it is not known which schema describes a key.
    expect(foreign['~standard'].validate({ 'x-a': {}, b: {} })).toEqual({ value: { 'x-a': {}, b: {} } });
    const record = jsonSchema({ additionalProperties: withDefault('other') }, { origin: 'data' });
    expect(record['~standard'].validate({ a: {} })).toEqual({ value: { a: { how: 'other' } } });
  });

  test('a default does not replace a value, and is not filled in inside a union or a condition', () => {
    const branch = { properties: { b: { default: 1 } } };
    const schema = {
      properties: { a: { default: 1 } },
      anyOf: [branch],
      oneOf: [branch],
      if: branch,
      ...whenTrue(branch),
    };
    expect(parsed(schema, { a: null })).toEqual({ a: null });
  });

  test('the input is not changed, and a default is a new object each time', () => {
    const input = Object.freeze({ page: Object.freeze({}) });
    const schema = jsonSchema({ properties: { page: { properties: { size: { default: [1] } } } } });
    const run = () =>
      (schema['~standard'].validate(input) as StandardSchemaV1.SuccessResult<{ page: { size: number[] } }>).value;
    run().page.size.push(2);
    expect(run()).toEqual({ page: { size: [1] } });
    expect(input).toEqual({ page: {} });
  });

  test('a recursive default ends', () => {
    const schema = { type: 'object', properties: { v: { default: 1 }, next: { $ref: '#', default: {} } } };
    expect(parsed(schema, { next: { next: {} } })).toMatchObject({ v: 1, next: { v: 1, next: { v: 1 } } });
  });

  test('a required property is required even with a default, and a default need not fit', () => {
    expect(issues({ properties: { a: { default: 1 } }, required: ['a'] }, {})).toEqual([
      [['a'], 'required, but missing'],
    ]);
    expect(parsed({ properties: { a: { type: 'string', default: null } } }, {})).toEqual({ a: null });
  });

  test('a property that is undefined counts as missing', () => {
    expect(parsed({ properties: { a: { type: 'string', default: 'x' } } }, { a: undefined })).toEqual({ a: 'x' });
  });
});

describe('drafts and references', () => {
  test('the draft is taken from $schema', () => {
    const draft4 = { $schema: 'http://json-schema.org/draft-04/schema#', minimum: 3, exclusiveMinimum: true };
    expect(issues(draft4, 3)).toEqual([[[], 'expected more than 3, got number 3']]);
    const beside = { $ref: '#/definitions/a', type: 'string', definitions: { a: {} } };
    expect(issues({ ...beside, $schema: 'http://json-schema.org/draft-07/schema#' }, 1)).toEqual([]);
    expect(issues(beside, 1)).toHaveLength(1);
    const tuple = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      items: [{ type: 'number' }],
      additionalItems: { type: 'string' },
    };
    expect(issues(tuple, [1, 2])).toEqual([[[1], 'expected string, got number 2']]);
  });

  test('a recursive schema is followed to the depth of the value', () => {
    const tree = { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#' } } }, required: ['kids'] };
    expect(issues(tree, { kids: [{ kids: [{}] }] })).toEqual([
      [['kids', 0, 'kids', 0, 'kids'], 'required, but missing'],
    ]);
  });

  test('references by anchor, by $id and into unknown keywords are found', () => {
    const schema = {
      $id: 'https://example.com/root.json',
      properties: {
        a: { $ref: '#number' },
        b: { $ref: 'text.json' },
        c: { $ref: '#/components/flag' },
        d: { $ref: 'https://example.com/root.json#/$defs/n' },
      },
      $defs: {
        n: { $anchor: 'number', type: 'number' },
        t: { $id: 'text.json', $ref: '#/$defs/inner', $defs: { inner: { type: 'string' } } },
      },
      components: { flag: { type: 'boolean' } },
    };
    expect(issues(schema, { a: '', b: 0, c: 0, d: '' }).map(([path]) => path)).toEqual([['a'], ['b'], ['c'], ['d']]);
  });

  test('annotations that resemble schemas are not read', () => {
    const schema = {
      properties: { a: { type: 'string' } },
      example: { id: 'x', $ref: 'nowhere' },
      'x-meta': { id: 'x', $id: 'y' },
      default: { $ref: '#/no' },
    };
    expect(issues(schema, { a: 'x' })).toEqual([]);
  });

  test('patterns that are invalid with the unicode flag still work', () => {
    expect(issues({ pattern: '^\\d{3}\\-[\\w-.]+\\@\\_$' }, '123-a.b-c@_')).toEqual([]);
    expect(issues({ pattern: '^\\d{3}\\-[\\w-.]+\\@\\_$' }, '123+a')).toHaveLength(1);
  });

  test.each([
    ['^{[a-z]+}$', '{name}', 'name'],
    ['^{{\\p{L}{2}}}$', '{{ab}}', '{{abc}}'],
    ['^\\[\\d]$', '[1]', '1'],
    ['^[.-\\w]+$', 'a-.b', 'a/b'],
    ['^[{}\\-]{2}$', '{-', '{a'],
  ])('the pattern %s, which is valid only without the unicode flag, matches %s and not %s', (pattern, right, wrong) => {
    expect(issues({ pattern }, right)).toEqual([]);
    expect(issues({ pattern }, wrong)).toHaveLength(1);
  });

  test('the schema is copied: later changes of the original have no effect', () => {
    const source = { properties: { a: { type: 'string' } } };
    const schema = jsonSchema(source);
    source.properties.a.type = 'number';
    expect(schema['~standard'].validate({ a: 'x' })).toEqual({ value: { a: 'x' } });
    expect(jsonSchema(Object.freeze({ type: 'string' }))['~standard'].validate('x')).toEqual({ value: 'x' });
  });
});

test.each<[unknown, string]>([
  [null, 'expected a schema (an object, true or false), got null'],
  ['object', 'got string'],
  [[], 'got an array'],
  [{ type: 'text' }, '"type" must be one of object, array'],
  [{ properties: { a: { type: 'int' } } }, 'at #/properties/a: "type"'],
  [{ properties: [] }, 'at #/properties: expected an object of schemas'],
  [{ properties: { a: 'string' } }, 'at #/properties/a: expected a schema'],
  [{ items: { $ref: '#/$defs/gone' } }, '$ref "#/$defs/gone" leads nowhere'],
  [{ $ref: 'https://example.com/other.json' }, 'leads nowhere'],
  [{ $ref: '#/%zz' }, 'leads nowhere'],
  [{ $ref: '#/__proto__' }, 'leads nowhere'],
  [{ $ref: '#' }, 'leads back to itself'],
  [{ anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: { allOf: [{ $ref: '#' }] } } }, 'leads back to itself'],
  [{ pattern: '^a\\Z' }, 'is not a regular expression'],
  [{ pattern: '^a{,5}$' }, 'is not a regular expression'],
  [{ pattern: '^[[:alpha:]]$' }, 'is not a regular expression'],
  [{ pattern: '(' }, '"(" is not a regular expression'],
  [{ patternProperties: { '[': {} } }, '"[" is not a regular expression'],
  [{ required: 'a' }, '"required" must be a list of property names'],
  [{ enum: 'a' }, '"enum" must be a list'],
  [{ anyOf: [] }, 'expected a list of schemas'],
  [{ minLength: -1 }, '"minLength" must be a whole number'],
  [{ minimum: '1' }, '"minimum" must be a number'],
  [{ $dynamicRef: '#a' }, 'use $ref'],
])('the malformed schema %j is refused when it is given', (schema, message) => {
  const make = () => jsonSchema(schema as JsonSchemaObject);
  expect(make).toThrow(SchemaError);
  expect(make).toThrow(message);
});

test('a schema object that contains itself is refused', () => {
  const cyclic: Record<string, unknown> = { type: 'object' };
  cyclic.properties = { self: cyclic };
  expect(() => jsonSchema(cyclic)).toThrow('contains itself');
});

describe('names that every object inherits', () => {
  const schema = JSON.parse(
    '{"properties":{"__proto__":{"type":"number"},"constructor":{"type":"string","default":"c"}},"required":["toString"],"additionalProperties":false}',
  );

  test('are checked, required and reported like any other name', () => {
    expect(issues(schema, JSON.parse('{"__proto__":"x","valueOf":1}'))).toEqual([
      [['valueOf'], 'unknown key; known here: "__proto__", "constructor"'],
      [['toString'], 'required, but missing'],
      [['__proto__'], 'expected number, got string "x"'],
    ]);
  });

  test('are filled in and kept as own properties', () => {
    const open = JSON.parse('{"properties":{"__proto__":{"default":{"polluted":true}},"constructor":{"default":"c"}}}');
    const value = parsed(open, JSON.parse('{"nested":{"__proto__":1}}')) as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['nested', '__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value.nested as object)).toEqual(['__proto__']);
  });

  test('are not formats', () => {
    expect(issues({ format: '__proto__' }, 'x')).toEqual([]);
  });
});
