import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { zodSchema } from 'ai';
import { type } from 'arktype';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { compileForeignSchema, compileOutputSchema, compileSchema } from '../../src/schema/compiled-schema.ts';
import { jsonSchema } from '../../src/schema/json-schema.ts';
import type { CompiledSchema } from '../../src/schema/schema-result.ts';

const Tree = z.object({
  v: z.union([z.string(), z.object({ n: z.number() }), z.object({ m: z.number() })]).optional(),
  get kids() {
    return z.array(Tree).optional();
  },
});

const treeJson = {
  type: 'object',
  properties: {
    v: {
      anyOf: [{ type: 'string' }, { type: 'object', properties: { n: {} } }, { type: 'object', properties: { m: {} } }],
    },
    kids: { type: 'array', items: { $ref: '#' } },
  },
};

const valibotObject = toStandardJsonSchema(
  v.object({ v: v.optional(v.string()), kids: v.optional(v.array(v.record(v.string(), v.number()))) }),
);

const compiled: readonly CompiledSchema[] = [
  compileSchema(Tree),
  compileSchema(treeJson),
  compileSchema(valibotObject),
  compileSchema(type({ 'v?': 'string', 'kids?': 'object[]' })),
  compileOutputSchema(jsonSchema(treeJson)),
  compileForeignSchema(zodSchema(Tree)),
  compileForeignSchema(valibotObject),
];

async function survives(value: unknown): Promise<void> {
  for (const schema of compiled) {
    const result = await schema.validate(value);
    expect(typeof result.ok).toBe('boolean');
    if (!result.ok)
      for (const { path, message } of result.problems) expect([typeof path, message !== '']).toEqual(['string', true]);
    if (!result.ok) expect(result.problems.length).toBeGreaterThan(0);
  }
}

test('[T17] no value makes validation throw', async () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
    withUnicodeString: true,
  } as fc.ObjectConstraints);
  const placed = fc.oneof(
    anything,
    anything.map((value) => ({ v: value })),
    anything.map((value) => ({ kids: [value, { v: value, kids: value }] })),
  );
  await fc.assert(fc.asyncProperty(placed, survives), { numRuns: 150 });
});

test('[T17] a value that contains itself makes no schema throw or hang', async () => {
  const cyclic: Record<string, unknown> = { v: 'x' };
  cyclic.kids = [cyclic];
  await survives(cyclic);
  const list: unknown[] = [];
  list.push(list);
  await survives({ kids: list });
});

const TRAPS = ['get', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf'] as const;

test('[T17] an object that throws wherever it is touched makes no schema throw', async () => {
  for (const trap of TRAPS) {
    const bang = () => {
      throw { toString: () => bang() };
    };
    const hostile = new Proxy({ v: 'x' }, { [trap]: bang });
    await survives(hostile);
    await survives({ v: hostile, kids: [hostile], more: hostile });
    await survives({ kids: new Proxy([], { [trap]: bang }) });
  }
  await survives({
    get v() {
      throw undefined;
    },
  });
});

test('a key that a URI cannot hold is named too', () => {
  const lone = { '\ud800': 1 };
  expect(compileSchema(treeJson).validate(lone)).toMatchObject({ ok: false });
  expect(compileSchema(Tree).validate(lone)).toMatchObject({ ok: false, problems: [{ path: '["\\ud800"]' }] });
});

test('a hundred thousand extra keys are listed', () => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 1]));
  const result = compileSchema(Tree).validate(many);
  expect(result).toMatchObject({ ok: false, problems: { length: 100_000 } });
});
