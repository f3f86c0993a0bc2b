import type { JsonSchemaObject } from '../../src/schema/json-schema-object.ts';

export interface Attack {
  readonly name: string;
  readonly schema: JsonSchemaObject;
  readonly value: unknown;
}

/** A definition for each level, which refers to the next one twice: the paths to the last one double with each level. */
function doubling(
  levels: number,
  level: (next: JsonSchemaObject, index: number) => object,
  last: object,
): JsonSchemaObject {
  const entries = Array.from({ length: levels }, (_, index) => [
    `d${index}`,
    level({ $ref: `#/$defs/d${index + 1}` }, index),
  ]);
  return Object.fromEntries([...entries, [`d${levels}`, last]]);
}

const first = { $ref: '#/$defs/d0' };
const object = (v: object, more: object = {}): JsonSchemaObject => ({ type: 'object', properties: { v }, ...more });
const list = <T>(length: number, item: (index: number) => T): T[] => Array.from({ length }, (_, index) => item(index));
const nested = (levels: number, inner: string): unknown =>
  JSON.parse(`${'{"v":'.repeat(levels)}${inner}${'}'.repeat(levels)}`);
const letters = `${'a'.repeat(30)}!`;

/** Schemas and values that took seconds, or would without limits. */
export const attacks: readonly Attack[] = [
  {
    name: 'a pattern that a pointer reaches in an unknown keyword',
    schema: object({ $ref: '#/x-note/p' }, { 'x-note': { p: { pattern: '^(a+)+$' } } }),
    value: { v: letters },
  },
  {
    name: 'a pattern that a pointer reaches in a default',
    schema: object({ $ref: '#/default/p' }, { default: { p: { pattern: '^(a+)+$' } } }),
    value: { v: letters },
  },
  {
    name: 'patterns of names',
    schema: object(
      {
        $ref: '#/x-note',
        allOf: [{ patternProperties: { '^(a+)+$': { type: 'string' } }, additionalProperties: false }],
      },
      { 'x-note': { patternProperties: { '^(a+)+$': {} }, unevaluatedProperties: false } },
    ),
    value: { v: { [letters]: 1 } },
  },
  {
    name: 'a pattern that takes long to be read',
    schema: object({ pattern: '(?:a{1000}){1000}'.repeat(200) }),
    value: { v: 'a'.repeat(100_000) },
  },
  ...['url', 'uri', 'email', 'hostname', 'ipv6', 'date-time', 'time'].flatMap((format): Attack[] => [
    { name: `format ${format}`, schema: object({ format }), value: { v: `http://${'a'.repeat(40)}!` } },
    {
      name: `format ${format} of a long text`,
      schema: object({ allOf: list(200, () => ({ format })) }),
      value: { v: `http://${'a-.:%41@'.repeat(20_000)}` },
    },
  ]),
  {
    name: '18 levels of allOf',
    schema: object(first, { $defs: doubling(18, (next) => ({ allOf: [next, next] }), { type: 'string' }) }),
    value: { v: 'x' },
  },
  {
    name: '18 levels of allOf that do not fit',
    schema: object(first, { $defs: doubling(18, (next) => ({ allOf: [next, next] }), { type: 'string' }) }),
    value: { v: 1 },
  },
  {
    name: '20 levels of objects with unions',
    schema: object(first, {
      $defs: doubling(
        20,
        (next, index) => ({ properties: { [`p${index}`]: {} }, anyOf: [next, { ...next, minProperties: 1 }] }),
        {
          type: 'object',
          properties: { a: { type: 'string' } },
        },
      ),
    }),
    value: { v: { a: 1, b: 2 } },
  },
  {
    name: '20 levels below unevaluatedProperties',
    schema: object(
      { ...first, unevaluatedProperties: false },
      {
        $defs: doubling(20, (next) => ({ anyOf: [next, next] }), { properties: { a: {} } }),
      },
    ),
    value: { v: { a: 1, b: 2 } },
  },
  {
    name: 'definitions that closing would copy a million times',
    schema: object(first, {
      $defs: doubling(
        20,
        (next, index) => ({
          type: 'object',
          properties: {
            x: { allOf: [next, { type: 'object', properties: { [`p${index}`]: {} } }] },
            y: { allOf: [next, { type: 'object', properties: { [`q${index}`]: {} } }] },
          },
        }),
        { type: 'object' },
      ),
    }),
    value: { v: {} },
  },
  {
    name: 'uniqueItems over 12,000 objects',
    schema: object({ type: 'array', uniqueItems: true }),
    value: { v: list(12_000, (index) => ({ index, text: `x${index}` })) },
  },
  {
    name: 'uniqueItems over long texts',
    schema: object({ type: 'array', uniqueItems: true }),
    value: { v: list(500, (index) => 'x'.repeat(2_000) + index) },
  },
  {
    name: 'a hundred thousand items',
    schema: object({ items: { type: 'number' } }),
    value: { v: list(100_000, (index) => index) },
  },
  {
    name: 'ten thousand wrong items',
    schema: object({ items: { type: 'string' } }),
    value: { v: list(10_000, (index) => index) },
  },
  {
    name: 'ten thousand extra keys',
    schema: object({}),
    value: Object.fromEntries(list(10_000, (index) => [`k${index}`, 1])),
  },
  { name: 'a value of 5,000 levels', schema: object({ $ref: '#' }), value: nested(5_000, '1') },
  {
    name: 'a value of 900 levels in a union',
    schema: object({ anyOf: [{ $ref: '#' }, { type: 'object', properties: { b: {} } }] }),
    value: nested(900, '{"c":1}'),
  },
  {
    name: 'defaults that hold each other',
    schema: {
      type: 'object',
      properties: Object.fromEntries(list(12, (index) => [`p${index}`, { $ref: '#', default: {} }])),
    },
    value: {},
  },
  {
    name: 'a long text that is counted thousands of times',
    schema: object({ allOf: list(3_000, () => ({ minLength: 3 })) }),
    value: { v: 'x'.repeat(900_000) },
  },
  {
    name: 'a long list of constants for each of a thousand items',
    schema: object({ items: { enum: list(9_000, (index) => `v${index}`) } }),
    value: { v: list(1_000, () => 'none') },
  },
  {
    name: 'a large constant for each of a thousand items',
    schema: object({ items: { const: list(9_000, (index) => index) } }),
    value: { v: list(1_000, () => list(50, () => 0)) },
  },
  {
    name: 'multiples of numbers with hundreds of digits',
    schema: object({ items: { multipleOf: 1e-300 } }),
    value: { v: list(15_000, () => 1.7e300) },
  },
  {
    name: 'three thousand properties',
    schema: {
      type: 'object',
      properties: Object.fromEntries(list(3_000, (index) => [`k${index}`, { type: 'string' }])),
    },
    value: { k1: 1 },
  },
  {
    name: 'a chain of references',
    schema: object(first, { $defs: doubling(1_500, (next) => ({ allOf: [next] }), { type: 'string' }) }),
    value: { v: 1 },
  },
  {
    name: 'a hundred thousand constants',
    schema: object({ enum: list(100_000, (index) => index) }),
    value: { v: 1 },
  },
  {
    name: 'the number of keys, asked for a thousand times',
    schema: { allOf: list(1_000, () => ({ minProperties: 1 })) },
    value: Object.fromEntries(list(10_000, (index) => [`k${index}`, 1])),
  },
  {
    name: 'alternatives that refuse the first of many keys',
    schema: { anyOf: list(300, () => ({ additionalProperties: false })) },
    value: Object.fromEntries(list(10_000, (index) => [`k${index}`, 1])),
  },
  {
    name: 'addresses below a long one',
    schema: object(
      { $ref: '#/$defs/d1' },
      {
        $id: `x:/${'a'.repeat(480)}/`,
        $defs: Object.fromEntries(list(3_000, (index) => [`d${index}`, { $id: `b${index}` }])),
      },
    ),
    value: { v: 1 },
  },
  {
    name: 'many problems below a long key',
    schema: { additionalProperties: { items: { type: 'string' } } },
    value: { ['k'.repeat(500_000)]: list(1_200, () => 1) },
  },
  {
    name: 'long texts that references are asked about',
    schema: object(
      { items: { allOf: list(300, (index) => ({ $ref: `#/$defs/a${index}` })) } },
      { $defs: Object.fromEntries(list(300, (index) => [`a${index}`, {}])) },
    ),
    value: { v: list(60, (index) => `${'x'.repeat(16_500)}${String(index).padStart(5, '0')}`) },
  },
  {
    name: 'uniqueItems around a long key, through many levels',
    schema: object({ allOf: list(15, () => ({ uniqueItems: true })) }),
    value: { v: list(900, () => 0).reduce<unknown>((inner) => [inner], { ['k'.repeat(900_000)]: 1 }) },
  },
  {
    name: 'URLs with hosts that have to be normalised',
    schema: object({ items: { format: 'url' } }),
    value: { v: list(190, () => `http://${'ä'.repeat(8_100)}`) },
  },
  {
    name: 'constants that are long to write, in many problems',
    schema: object({ items: { enum: list(150, (index) => '\u0001'.repeat(100) + index) } }),
    value: { v: list(500, (index) => index) },
  },
  { name: 'a schema of 5,000 levels', schema: nested(5_000, '{}') as JsonSchemaObject, value: {} },
  { name: 'a reference to itself', schema: { $ref: '#' }, value: {} },
  {
    name: 'references in a circle',
    schema: object(first, { $defs: { d0: { anyOf: [{ $ref: '#/$defs/d1' }] }, d1: { not: first } } }),
    value: { v: 1 },
  },
];
