import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import type { ResolveRef } from './refs.ts';
import { isSchemaObject, listOf, mapOf } from './subschemas.ts';
import { unicodePattern } from './unicode-pattern.ts';
import type { UnionChoice } from './union-choice.ts';

type CollectNames = (value: Record<string, unknown>, names: Set<string>) => void;

/**
 * The names that a schema and all that applies beside it know in a value: what `unevaluatedProperties` looks at. By name
 * only, so a known key with a wrong value is not called unknown.
 */
export function compileKnownNames(
  node: JsonSchemaNode | undefined,
  resolve: ResolveRef,
  choice: UnionChoice,
): CollectNames {
  if (!isSchemaObject(node)) return () => undefined;
  // Made when it first runs, because schemas are recursive.
  let parts: readonly CollectNames[] | undefined;
  return (value, names) => {
    parts ??= [ownNames(node), ...namesBeside(node, resolve, choice)];
    for (const collect of parts) collect(value, names);
  };
}

function ownNames(node: JsonSchemaObject): CollectNames {
  const own = mapOf(node.properties).map(([name]) => name);
  const patterns = patternsOf(node);
  const isOpen = isOpening(node.additionalProperties) || isOpening(node.unevaluatedProperties);
  return (value, names) => {
    for (const name of own) names.add(name);
    if (!isOpen && patterns.length === 0) return;
    for (const key of Object.keys(value)) if (isOpen || patterns.some((pattern) => pattern.test(key))) names.add(key);
  };
}

function namesBeside(node: JsonSchemaObject, resolve: ResolveRef, choice: UnionChoice): readonly CollectNames[] {
  const collectorOf = (sub: unknown): CollectNames =>
    compileKnownNames(sub as JsonSchemaNode | undefined, resolve, choice);
  const collectors = new Map<JsonSchemaNode, CollectNames>();
  const union = (branches: readonly JsonSchemaNode[]): CollectNames => {
    for (const branch of branches) collectors.set(branch, collectorOf(branch));
    return (value, names) => {
      for (const branch of choice.branchesFor(branches, value)) collectors.get(branch)?.(value, names);
    };
  };
  const dependent = mapOf(node.dependentSchemas).map(([key, sub]) =>
    onlyIf((value) => Object.hasOwn(value, key), collectorOf(sub)),
  );
  const all = [resolve(node), ...listOf(node.allOf)].map(collectorOf);
  return [
    ...all,
    union(listOf(node.anyOf)),
    union(listOf(node.oneOf)),
    ...dependent,
    ...conditionNames(node, collectorOf, choice),
  ];
}

function conditionNames(
  node: JsonSchemaObject,
  collectorOf: (sub: unknown) => CollectNames,
  choice: UnionChoice,
): readonly CollectNames[] {
  const condition = node.if as JsonSchemaNode | undefined;
  if (condition === undefined) return [];
  const holds = (value: unknown): boolean => choice.fits(condition, value);
  return [
    onlyIf(holds, collectorOf(condition)),
    onlyIf(holds, collectorOf(node.then)),
    onlyIf((value) => !holds(value), collectorOf(node.else)),
  ];
}

function onlyIf(applies: (value: Record<string, unknown>) => boolean, collect: CollectNames): CollectNames {
  return (value, names) => {
    if (applies(value)) collect(value, names);
  };
}

function isOpening(keyword: unknown): boolean {
  return keyword !== undefined && keyword !== false;
}

/** The patterns of a schema's `patternProperties`. */
export function patternsOf(node: JsonSchemaObject): readonly RegExp[] {
  const sources = mapOf(node.patternProperties).map(([source]) => unicodePattern(source));
  return sources.filter((source) => source !== undefined).map((source) => new RegExp(source, 'u'));
}
