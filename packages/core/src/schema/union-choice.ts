import type { Run } from './check.ts';
import { createInterpreter, type Interpreter } from './interpreter.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import type { ResolveRef } from './refs.ts';
import type { SchemaDocument } from './schema-document.ts';
import type { Steps } from './steps.ts';
import { isSchemaObject, mapOf } from './subschemas.ts';

/** Determines which alternative of a union a value was meant for. */
export interface UnionChoice {
  branchesFor(branches: readonly JsonSchemaNode[], value: unknown, run: Run): readonly JsonSchemaNode[];
  fits(node: JsonSchemaNode, value: unknown, run: Run): boolean;
}

/**
 * The alternatives that fit; if none does, the one that would fit without its extra keys (counted by `countExtraKeys`);
 * otherwise none. The interpreter runs only if types and constants leave more than one.
 */
export function createUnionChoice(
  document: SchemaDocument,
  countExtraKeys: (node: JsonSchemaNode, value: unknown, run: Run) => number,
): UnionChoice {
  const strict = lazily(() => createInterpreter(document, { extraKeys: 'refused' }));
  const loose = lazily(() => createInterpreter(document, { extraKeys: 'ignored' }));
  const tests = new Map<JsonSchemaNode, QuickTest>();

  function mayFit(branch: JsonSchemaNode, value: unknown, { steps }: Run): boolean {
    const test = tests.get(branch) ?? compileMayFit(branch, document.resolve);
    tests.set(branch, test);
    steps.take(test.cost);
    return test.mayFit(value, steps);
  }

  return {
    fits: (node, value, run) => strict().fits(node, value, run),
    branchesFor: (branches, value, run) => {
      if (typeof value !== 'object' || value === null) return [];
      const candidates = branches.filter((branch) => mayFit(branch, value, run));
      if (candidates.length < 2) return candidates;
      const fitting = candidates.filter((branch) => strict().fits(branch, value, run));
      if (fitting.length > 0) return fitting;
      return fewest(
        candidates.filter((branch) => loose().fits(branch, value, run)),
        (branch) => countExtraKeys(branch, value, run),
      );
    },
  };
}

function lazily(make: () => Interpreter): () => Interpreter {
  let made: Interpreter | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function fewest<T>(candidates: readonly T[], count: (candidate: T) => number): readonly T[] {
  const counts = candidates.map(count);
  const best = candidates[counts.indexOf(Math.min(...counts))];
  return best === undefined ? [] : [best];
}

interface QuickTest {
  /** False only if the alternative's type, or a constant in it, rules the value out. */
  readonly mayFit: (value: unknown, steps: Steps) => boolean;
  readonly cost: number;
}

function compileMayFit(branch: JsonSchemaNode, resolve: ResolveRef): QuickTest {
  const node = targetOf(branch, resolve);
  if (!isSchemaObject(node)) return { cost: 1, mayFit: () => node };
  const types = node.type === undefined ? undefined : [node.type].flat();
  const constants = mapOf(node.properties).flatMap(([key, sub]) => {
    const values = isSchemaObject(sub) ? constantsOf(sub) : undefined;
    return values === undefined ? [] : [[key, new Set(values)] as const];
  });
  const mayFit = (value: unknown, steps: Steps): boolean => {
    if (types?.includes(Array.isArray(value) ? 'array' : 'object') === false) return false;
    const object = value as Record<string, unknown>;
    return constants.every(([key, values]) => {
      const field = Object.hasOwn(object, key) ? object[key] : undefined;
      // A long text may have to be compared with each of them.
      if (typeof field === 'string' && field.length > 1_000) steps.takeText(field.length * values.size);
      return !Object.hasOwn(object, key) || values.has(field);
    });
  };
  return { cost: 1 + constants.length, mayFit };
}

function targetOf(branch: JsonSchemaNode, resolve: ResolveRef): JsonSchemaNode {
  const target =
    isSchemaObject(branch) && branch.type === undefined && branch.properties === undefined
      ? resolve(branch)
      : undefined;
  return target === undefined ? branch : targetOf(target, resolve);
}

/** The values that a schema allows, if it lists them and all can be compared by identity. */
function constantsOf(node: JsonSchemaObject): readonly unknown[] | undefined {
  const values = Object.hasOwn(node, 'const') ? [node.const] : node.enum;
  return Array.isArray(values) && values.every((value) => typeof value !== 'object' || value === null)
    ? values
    : undefined;
}
