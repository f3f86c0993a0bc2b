import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SchemaError } from '../../src/errors.ts';
import { createRun } from '../../src/schema/check.ts';
import { compileSchema } from '../../src/schema/compiled-schema.ts';
import { jsonSchema } from '../../src/schema/json-schema.ts';
import type { JsonSchemaObject } from '../../src/schema/json-schema-object.ts';
import { createJsonCheck } from '../../src/schema/json-validator.ts';
import { openDocument } from '../../src/schema/schema-document.ts';
import { CHECK_STEPS } from '../../src/schema/steps.ts';
import { attacks } from './attacks.ts';

/** Compiles a schema that is data, as a tool does, and checks a value. Undefined if the schema is refused. */
function check(schema: JsonSchemaObject, value: unknown): unknown {
  const [given, closed] = [() => jsonSchema(schema, { origin: 'data' }), () => compileSchema(given())];
  const [asGiven, asTool] = [orRefused(given), orRefused(closed)];
  const results = [asGiven?.['~standard'].validate(value), asTool?.validate(value)];
  for (const result of results) expect(isDecision(result)).toBe(true);
  return results;
}

function orRefused<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    expect(error).toBeInstanceOf(SchemaError);
    return undefined;
  }
}

function isDecision(result: unknown): boolean {
  if (result === undefined) return true;
  const { ok, value, issues } = result as { ok?: boolean; value?: unknown; issues?: readonly unknown[] };
  return typeof ok === 'boolean' || value !== undefined || (issues !== undefined && issues.length > 0);
}

/** True if one of three tries takes less time, because a garbage collection may slow down the others. */
function isQuicker(limitMs: number, work: () => void): boolean {
  return [1, 2, 3].some(() => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000 < limitMs;
  });
}

/** Each of these blocks the thread once, for less than 50 ms: reading the schema, closing it, and two checks. */
const LONGEST_MS = 4 * 50;

describe('[X26] a schema that is data', () => {
  test.each(attacks)('$name: is decided quickly', ({ schema, value }) => {
    expect(isQuicker(LONGEST_MS, () => void check(schema, value))).toBe(true);
  });

  test.each(attacks)('$name: takes no more steps than allowed', ({ schema, value }) => {
    const document = orRefused(() => openDocument(schema, 'data'));
    if (document === undefined || orRefused(() => jsonSchema(schema, { origin: 'data' })) === undefined) return;
    const { steps, ...run } = createRun(CHECK_STEPS);
    const counted = countLargest(steps);
    expect(isDecision(createJsonCheck(document)(value, { ...run, steps }))).toBe(true);
    // Work beyond the limit is refused before it is done.
    expect(steps.taken - counted.largest).toBeLessThanOrEqual(CHECK_STEPS);
  });

  test('runs no pattern, wherever it is, and refuses no name that a pattern may allow', () => {
    const schema = {
      type: 'object',
      properties: { a: { pattern: '^b$' }, c: { $ref: '#/x-note/p' } },
      patternProperties: { '^x-': { type: 'number' } },
      additionalProperties: false,
      'x-note': { p: { pattern: '^b$' } },
    };
    const value = { a: 'z', c: 'z', 'x-1': 'text', other: 1 };
    expect(jsonSchema(schema, { origin: 'data' })['~standard'].validate(value)).toEqual({ value });
    expect(compileSchema(jsonSchema(schema, { origin: 'data' })).validate(value)).toEqual({ ok: true, value });
    expect(jsonSchema(schema)['~standard'].validate(value)).toMatchObject({ issues: { length: 4 } });
  });

  test('says that a check took too many steps, and does not say that the value is wrong', () => {
    const { validate } = jsonSchema({ items: { type: 'number' } }, { origin: 'data' })['~standard'];
    expect(validate(Array.from({ length: 100_000 }, () => 1))).toEqual({
      issues: [
        { path: [], message: 'cannot be checked: checking it against the schema takes more than 200,000 steps' },
      ],
    });
    expect(validate(Array.from({ length: 20_000 }, () => 1))).toMatchObject({ value: { length: 20_000 } });
  });

  test('says that a value does not fit, even if the steps do not suffice to say why', () => {
    const { validate } = jsonSchema({ items: { type: 'number' } }, { origin: 'data' })['~standard'];
    expect(validate(Array.from({ length: 10_000 }, () => 'x'))).toEqual({
      issues: [
        {
          path: [],
          message:
            'does not fit the schema (why is unknown: checking it against the schema takes more than 200,000 steps)',
        },
      ],
    });
    expect(validate(Array.from({ length: 1_000 }, () => 'x'))).toMatchObject({ issues: { length: 51 } });
  });

  test('is refused if it is too large or too deep to be read', () => {
    const read = (schema: object) => () => jsonSchema(schema as JsonSchemaObject, { origin: 'data' });
    expect(read({ enum: Array.from({ length: 10_001 }, () => 1) })).toThrow('more than 10,000 values');
    expect(read({ description: 'x'.repeat(250_001) })).toThrow('more than 250,000 characters');
    expect(read(JSON.parse(`${'{"not":'.repeat(200)}{}${'}'.repeat(200)}`))).toThrow('more than 100 levels');
  });

  test('in code keeps its patterns, and is checked without a limit', () => {
    const { validate } = jsonSchema({ items: { pattern: '^a' } })['~standard'];
    expect(validate(Array.from({ length: 100_000 }, () => 'a'))).toMatchObject({ value: { length: 100_000 } });
    expect(validate(['b'])).toMatchObject({ issues: [{ path: [0] }] });
  });
});

/** Records the largest number of steps that were taken at once. */
function countLargest(steps: { take(count?: number): void }): { readonly largest: number } {
  const counted = { largest: 0 };
  const take = steps.take.bind(steps);
  steps.take = (count = 1) => {
    counted.largest = Math.max(counted.largest, count);
    take(count);
  };
  return counted;
}

const NAMES = ['a', 'b', '$ref', 'x-note'];
const REFS = ['#c0', '#c50', '#', '#/$defs/a', '#/$defs/b', '#/x-note/a', '#/default/a', '#/properties/a'];
const ALL_TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string'];
const MANY_CONSTANTS = Array.from({ length: 120 }, (_, index) => '\u0001'.repeat(100) + index);
/** Definitions that each refer to the next one. */
const CHAIN: Readonly<Record<string, JsonSchemaObject>> = Object.fromEntries(
  Array.from({ length: 60 }, (_, index) => [`c${index}`, { $anchor: `c${index}`, $ref: `#c${index + 1}` }]),
);
const LAST = { $anchor: 'c60', default: 1, minProperties: 1 };
const FORMATS = ['url', 'uri', 'email', 'hostname', 'ipv6', 'date-time', 'unknown'];
const PATTERNS = fc.constantFrom('^(a+)+$', '[');

type AnyNode = JsonSchemaObject | boolean;

/** Only a few keywords each: with many, most schemas are refused before anything is checked. */
const { node: anyNode } = fc.letrec<{ node: AnyNode }>((tie) => {
  const sub = tie('node');
  const list = fc.array(sub, { minLength: 1, maxLength: 3 });
  const map = fc.dictionary(fc.constantFrom(...NAMES), sub, { maxKeys: 3 });
  const one = (keyword: string, value: fc.Arbitrary<unknown>) => value.map((held) => ({ [keyword]: held }));
  const holders = [
    ...['properties', 'dependentSchemas'].map((keyword) => one(keyword, map)),
    ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((keyword) => one(keyword, list)),
    ...['additionalProperties', 'unevaluatedProperties', 'propertyNames', 'items', 'unevaluatedItems'].map((keyword) =>
      one(keyword, sub),
    ),
    ...['contains', 'not', 'if', 'else'].map((keyword) => one(keyword, sub)),
    one('patternProperties', fc.dictionary(PATTERNS, sub, { maxKeys: 2 })),
  ];
  const leaves = [
    one('type', fc.constantFrom('object', 'array', 'string', ['number', 'null'], ALL_TYPES)),
    one('minProperties', fc.constantFrom(1, 5_000)),
    one('maxProperties', fc.constantFrom(1, 5_000)),
    one('enum', fc.constant(MANY_CONSTANTS)),
    one('$ref', fc.constantFrom(...REFS)),
    one('pattern', PATTERNS),
    one('format', fc.constantFrom(...FORMATS)),
    one('uniqueItems', fc.boolean()),
    one('default', fc.constantFrom({}, [], 1)),
    one('enum', fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 })),
    one('minLength', fc.nat({ max: 5 })),
    one('required', fc.subarray(NAMES)),
  ];
  const merged = (parts: fc.Arbitrary<object>[]) =>
    fc.array(fc.oneof(...parts), { minLength: 1, maxLength: 3 }).map((all): AnyNode => Object.assign({}, ...all));
  return { node: fc.oneof({ maxDepth: 4 }, merged(leaves), fc.boolean(), merged([...holders, ...leaves])) };
});

/** With all definitions that the references need. */
const anySchema = fc
  .record({ root: anyNode, a: anyNode, b: anyNode, note: anyNode, data: anyNode, property: anyNode })
  .map(({ root, a, b, note, data, property }): JsonSchemaObject => {
    const own = typeof root === 'boolean' ? {} : root;
    const properties = { ...(own.properties as object | undefined), a: property };
    return { ...own, properties, $defs: { a, b, ...CHAIN, c60: LAST }, 'x-note': { a: note }, default: { a: data } };
  });

const TEXTS = [
  `${'a'.repeat(30)}!`,
  'http://a.example',
  'x'.repeat(5_000),
  'x'.repeat(17_000),
  `http://${'ä'.repeat(8_000)}`,
];
const smallValue = fc.jsonValue({ maxDepth: 3, stringUnit: fc.constantFrom('a', '!', ...NAMES) });
/** One value repeated many times: its description stays small when a failed test prints it. */
const anyValue = fc.record({
  part: fc.oneof(smallValue, fc.constantFrom(...TEXTS)),
  place: fc.constantFrom('itself', 'items', 'properties', 'long keys', 'levels'),
  times: fc.constantFrom(3, 300, 3_000, 10_000),
});

function toValue({ part, place, times }: { part: unknown; place: string; times: number }): unknown {
  const parts = Array.from({ length: times }, () => part);
  switch (place) {
    case 'items':
      return parts;
    case 'properties':
      return Object.fromEntries(parts.map((one, index) => [index < NAMES.length ? NAMES[index] : `k${index}`, one]));
    case 'long keys':
      return Object.fromEntries(parts.slice(0, 30).map((one, index) => ['k'.repeat(20_000) + index, one]));
    case 'levels':
      return parts.slice(0, 300).reduce((inner) => ({ a: inner, b: [part] }), part);
    default:
      return part;
  }
}

test('[X26] any schema and value are decided within the steps, which take little time', () => {
  fc.assert(
    fc.property(anySchema, anyValue, (schema, shape) => {
      const value = toValue(shape);
      const document = orRefused(() => openDocument(schema, 'data'));
      if (document === undefined || orRefused(() => jsonSchema(schema, { origin: 'data' })) === undefined) return;
      const run = createRun(CHECK_STEPS);
      const counted = countLargest(run.steps);
      expect(isDecision(createJsonCheck(document)(value, run))).toBe(true);
      expect(run.steps.taken - counted.largest).toBeLessThanOrEqual(CHECK_STEPS);
      // 25 ms at most on an idle processor; here other tests use it too.
      expect(isQuicker(LONGEST_MS, () => void createJsonCheck(document)(value, createRun(CHECK_STEPS)))).toBe(true);
      orRefused(() => compileSchema(jsonSchema(schema, { origin: 'data' })));
    }),
    { numRuns: 120 },
  );
});
