import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { closeObjects } from '../../src/schema/close-objects.ts';
import { compileSchema } from '../../src/schema/compiled-schema.ts';
import { compileExtraKeys } from '../../src/schema/extra-keys.ts';
import { formatPath } from '../../src/schema/format-path.ts';
import type { JsonSchemaObject } from '../../src/schema/json-schema-object.ts';
import type { SchemaResult } from '../../src/schema/schema-result.ts';
import { closedLevels, EXTRA_KEYS, fittingValue, inputShape, toJsonSchema, withKey } from './shapes.ts';

function interpret(schema: JsonSchemaObject, value: unknown): boolean {
  return new Validator(structuredClone(schema) as object, '2020-12', false).validate(value).valid;
}

const fitting = inputShape.chain((shape) =>
  fittingValue(shape).map((value) => ({ shape, value, schema: toJsonSchema(shape) })),
);

const withExtraKey = fitting
  .filter(({ shape, value }) => closedLevels(shape, value).length > 0)
  .chain((sample) =>
    fc
      .record({
        level: fc.constantFrom(...closedLevels(sample.shape, sample.value)),
        key: fc.constantFrom(...EXTRA_KEYS),
      })
      .map(({ level, key }) => ({
        ...sample,
        value: withKey(sample.value, level, key),
        path: formatPath([...level, key]),
      })),
  );

test('[T5] a value that fits is accepted: closing refuses only extra keys', () => {
  fc.assert(
    fc.property(fitting, ({ schema, value }) => {
      const compiled = compileSchema(schema);
      expect(interpret(schema, value)).toBe(true);
      expect(interpret(compiled.jsonSchema() as JsonSchemaObject, value)).toBe(true);
      expect(compiled.validate(value)).toEqual({ ok: true, value });
      expect(compileExtraKeys(closeObjects(schema))(value)).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

test('[T18] one extra key at any closed level fails, and only its path is named', () => {
  fc.assert(
    fc.property(withExtraKey, ({ schema, value, path }) => {
      const compiled = compileSchema(schema);
      const result = compiled.validate(value) as Extract<SchemaResult, { ok: false }>;
      expect(result.ok).toBe(false);
      expect(result.problems.map((problem) => problem.path)).toEqual([path]);
      expect(interpret(compiled.jsonSchema() as JsonSchemaObject, value)).toBe(false);
      expect(compileExtraKeys(closeObjects(schema))(value).map((problem) => problem.path)).toEqual([path]);
    }),
    { numRuns: 100 },
  );
});

test('[T5] the advertised schema is the enforced one, for any value', () => {
  const spoilt = withExtraKey.chain((sample) =>
    fc
      .record({ junk: fc.jsonValue({ maxDepth: 2 }), at: fc.nat() })
      .map(({ junk, at }) => ({ ...sample, value: spoil(sample.value, at, junk) })),
  );
  fc.assert(
    fc.property(fc.oneof(spoilt, fitting), fc.jsonValue(), ({ schema, value }, other) => {
      const compiled = compileSchema(schema);
      for (const one of [value, other]) {
        const { ok } = compiled.validate(one) as SchemaResult;
        expect(ok).toBe(interpret(compiled.jsonSchema() as JsonSchemaObject, one));
        if (ok) expect(interpret(schema, one)).toBe(true);
      }
    }),
    { numRuns: 100 },
  );
});

/** Puts junk at one place of the value. */
function spoil(value: unknown, at: number, junk: unknown): unknown {
  if (typeof value !== 'object' || value === null) return junk;
  const entries = Object.entries(value);
  const chosen = at % (entries.length + 1);
  const spoilt = entries.map(
    ([key, one], index) => [key, index === chosen ? spoil(one, Math.floor(at / 7), junk) : one] as const,
  );
  return Array.isArray(value) ? spoilt.map(([, one]) => one) : Object.fromEntries(spoilt);
}
