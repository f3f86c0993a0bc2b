import { createInterpreter, type Interpreter } from './interpreter.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import type { ResolveRef } from './refs.ts';
import { isSchemaObject, mapOf } from './subschemas.ts';

/** Tells which alternative of a union a value was meant for. */
export interface UnionChoice {
  branchesFor(branches: readonly JsonSchemaNode[], value: unknown): readonly JsonSchemaNode[];
  fits(node: JsonSchemaNode, value: unknown): boolean;
}

/**
 * The alternatives that fit; where none does, the one that would if its extra keys (counted by `countExtraKeys`) were not
 * there; where none would, none. The interpreter is asked only where types and constants leave more than one.
 */
export function createUnionChoice(
  root: JsonSchemaNode,
  resolve: ResolveRef,
  countExtraKeys: (node: JsonSchemaNode, value: unknown) => number,
): UnionChoice {
  const strict = lazily(() => createInterpreter(root, { extraKeys: 'refused' }));
  const loose = lazily(() => createInterpreter(root, { extraKeys: 'ignored' }));
  const tests = new Map<JsonSchemaNode, (value: unknown) => boolean>();

  function mayFit(branch: JsonSchemaNode, value: unknown): boolean {
    const test = tests.get(branch) ?? compileMayFit(branch, resolve);
    tests.set(branch, test);
    return test(value);
  }

  return {
    fits: (node, value) => strict().fits(node, value),
    branchesFor: (branches, value) => {
      if (typeof value !== 'object' || value === null) return [];
      const candidates = branches.filter((branch) => mayFit(branch, value));
      if (candidates.length < 2) return candidates;
      const fitting = candidates.filter((branch) => strict().fits(branch, value));
      if (fitting.length > 0) return fitting;
      return fewest(
        candidates.filter((branch) => loose().fits(branch, value)),
        (branch) => countExtraKeys(branch, value),
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

/** False only where the alternative's type, or a constant in it, rules the value out. */
function compileMayFit(branch: JsonSchemaNode, resolve: ResolveRef): (value: unknown) => boolean {
  const node = targetOf(branch, resolve);
  if (!isSchemaObject(node)) return () => node;
  const types = node.type === undefined ? undefined : [node.type].flat();
  const constants = mapOf(node.properties).flatMap(([key, sub]) => {
    const values = isSchemaObject(sub) ? constantsOf(sub) : undefined;
    return values === undefined ? [] : [[key, values] as const];
  });
  return (value) => {
    if (types?.includes(Array.isArray(value) ? 'array' : 'object') === false) return false;
    const object = value as Record<string, unknown>;
    return constants.every(([key, values]) => !Object.hasOwn(object, key) || values.includes(object[key]));
  };
}

function targetOf(branch: JsonSchemaNode, resolve: ResolveRef): JsonSchemaNode {
  const target =
    isSchemaObject(branch) && branch.type === undefined && branch.properties === undefined
      ? resolve(branch)
      : undefined;
  return target === undefined ? branch : targetOf(target, resolve);
}

/** The values a schema allows, where it lists them and all can be compared by identity. */
function constantsOf(node: JsonSchemaObject): readonly unknown[] | undefined {
  const values = Object.hasOwn(node, 'const') ? [node.const] : node.enum;
  return Array.isArray(values) && values.every((value) => typeof value !== 'object' || value === null)
    ? values
    : undefined;
}
