import { keysIn, type Run } from './check.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import type { SchemaDocument } from './schema-document.ts';
import { isSchemaObject, listOf, mapOf } from './subschemas.ts';
import type { UnionChoice } from './union-choice.ts';

type CollectNames = (value: Record<string, unknown>, names: Set<string>, run: Run) => void;
type CollectorOf = (node: unknown) => CollectNames;

/**
 * The names that a schema, and all schemas that apply to the same value, know: what `unevaluatedProperties` looks at.
 * Only names count, so a known key with a wrong value is not reported as unknown.
 */
export function createKnownNames(document: SchemaDocument, choice: UnionChoice): CollectorOf {
  const collectors = new Map<JsonSchemaObject, CollectNames>();
  function collectorOf(node: unknown): CollectNames {
    if (!isSchemaObject(node)) return () => undefined;
    const collect = collectors.get(node) ?? compile(node);
    collectors.set(node, collect);
    return collect;
  }
  function compile(node: JsonSchemaObject): CollectNames {
    // Created when it first runs, because schemas are recursive.
    let parts: readonly CollectNames[] | undefined;
    return (value, names, run) => {
      parts ??= [ownNames(node, document), ...namesBeside(node, document.resolve(node), collectorOf, choice)];
      run.steps.take(1 + parts.length);
      for (const collect of parts) collect(value, names, run);
    };
  }
  return collectorOf;
}

function ownNames(node: JsonSchemaObject, document: SchemaDocument): CollectNames {
  const own = mapOf(node.properties).map(([name]) => name);
  const patterns = patternsOf(node, document);
  const isOpen =
    isOpening(node.additionalProperties) || isOpening(node.unevaluatedProperties) || document.hasHiddenNames(node);
  return (value, names, run) => {
    run.steps.take(own.length);
    for (const name of own) names.add(name);
    if (!isOpen && patterns.length === 0) return;
    const keys = keysIn(value, run);
    run.steps.take(keys.length);
    for (const key of keys) if (isOpen || patterns.some((pattern) => pattern.test(key))) names.add(key);
  };
}

function namesBeside(
  node: JsonSchemaObject,
  target: JsonSchemaNode | undefined,
  collectorOf: CollectorOf,
  choice: UnionChoice,
): readonly CollectNames[] {
  const union = (branches: readonly JsonSchemaNode[]): CollectNames => {
    return (value, names, run) => {
      for (const branch of choice.branchesFor(branches, value, run)) collectorOf(branch)(value, names, run);
    };
  };
  const dependent = mapOf(node.dependentSchemas).map(([key, sub]) =>
    onlyIf((value) => Object.hasOwn(value, key), collectorOf(sub)),
  );
  return [
    ...[target, ...listOf(node.allOf)].map(collectorOf),
    union(listOf(node.anyOf)),
    union(listOf(node.oneOf)),
    ...dependent,
    ...conditionNames(node, collectorOf, choice),
  ];
}

function conditionNames(
  node: JsonSchemaObject,
  collectorOf: CollectorOf,
  choice: UnionChoice,
): readonly CollectNames[] {
  const condition = node.if as JsonSchemaNode | undefined;
  if (condition === undefined) return [];
  const holds = (value: unknown, run: Run): boolean => choice.fits(condition, value, run);
  return [
    onlyIf(holds, collectorOf(condition)),
    onlyIf(holds, collectorOf(node.then)),
    onlyIf((value, run) => !holds(value, run), collectorOf(node.else)),
  ];
}

function onlyIf(applies: (value: Record<string, unknown>, run: Run) => boolean, collect: CollectNames): CollectNames {
  return (value, names, run) => {
    if (applies(value, run)) collect(value, names, run);
  };
}

function isOpening(keyword: unknown): boolean {
  return keyword !== undefined && keyword !== false;
}

/** The patterns of a schema's `patternProperties`, without those that are not run. */
export function patternsOf(node: JsonSchemaObject, document: SchemaDocument): readonly RegExp[] {
  return mapOf(node.patternProperties).flatMap(([source]) => document.pattern(source) ?? []);
}
