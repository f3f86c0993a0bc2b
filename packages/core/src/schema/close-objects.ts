import { createClosedDefinitions, type DefinitionMode } from './closed-definitions.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import { ANNOTATIONS, mergeObjects } from './merge-objects.ts';
import { conjunctsOf, demandedNames, describesObject, opensItself } from './object-level.ts';
import { openDocument, type SchemaDocument } from './schema-document.ts';
import { ANY_KEY, ITEMS, sharedKeys } from './shared-keys.ts';
import { isSchemaObject, listOf, mapOf, mapSubschemas, type Place } from './subschemas.ts';

/**
 * A copy in which every object level refuses unknown keys, unless the schema itself opens the level.
 *
 * A level that one schema describes gets `additionalProperties: false`. A level that several describe together
 * (`allOf`, or `properties` beside a union) is merged into one if possible; otherwise its parts stay open and the whole
 * gets `unevaluatedProperties: false`. Schemas that only test a value (`not`, `if`, `contains`, `propertyNames`) are
 * unchanged and keep their meaning. References are rewritten, because a definition used as a part must be open where
 * another use is closed.
 */
export function closeObjects(
  schema: JsonSchemaObject,
  document: SchemaDocument = openDocument(schema),
): JsonSchemaObject {
  const { resolve, steps } = document;
  const definitions = createClosedDefinitions(schema, document, { closed: close, open: openLevel, asIs });
  return definitions.addTo(close(schema));

  /** Closes a node; no other schema applies to the same value. */
  function close(node: JsonSchemaObject): JsonSchemaObject {
    if (isOnlyRef(node)) return rewrite(node, asIsNode, 'closed');
    const merged = conjunctsOf(node).length > 0 || node.$ref !== undefined ? mergeObjects(node, document) : node;
    if (merged !== undefined && conjunctsOf(merged).length === 0) return closePlain(merged);
    if (isPureUnion(node)) return rewrite(node, closeNode);
    return closeComposite(node);
  }

  function closeNode(node: JsonSchemaNode): JsonSchemaNode {
    return isSchemaObject(node) ? close(node) : node;
  }

  function closePlain(node: JsonSchemaObject): JsonSchemaObject {
    const patterns = mapOf(node.patternProperties).flatMap(([source]) => document.pattern(source) ?? []);
    const names = mapOf(node.properties).map(([name]) => name);
    const overlaps = names.some((name) => patterns.some((pattern) => pattern.test(name)));
    const closed = rewrite(node, (sub, place) => (overlaps && isProperty(place) ? asIsNode(sub) : closeNode(sub)));
    if (!describesObject(node) || opensItself(node)) return closed;
    return { ...withNames(closed, demandedNames(node), names), additionalProperties: false };
  }

  function closeComposite(node: JsonSchemaObject): JsonSchemaObject {
    const parts = allParts(node);
    const open = openLevel(node);
    if (!parts.some(describesObject) || opensItself(node, parts)) return open;
    const declared = parts.flatMap((part) => mapOf(part.properties).map(([name]) => name));
    return { ...withNames(open, parts.flatMap(demandedNames), declared), unevaluatedProperties: false };
  }

  /**
   * A part of a level that is closed elsewhere. Below it, everything is closed except the keys that others describe
   * too.
   */
  function openLevel(node: JsonSchemaObject, outerShared: ReadonlySet<string> = new Set()): JsonSchemaObject {
    steps.take(outerShared.size);
    const shared = new Set([...outerShared, ...sharedKeys(node, document)]);
    const openNode = (sub: JsonSchemaNode): JsonSchemaNode => (isSchemaObject(sub) ? openLevel(sub, shared) : sub);
    const change = (sub: JsonSchemaNode, place: Place): JsonSchemaNode => {
      if (IN_PLACE.has(place.keyword)) return openNode(sub);
      return isShared(place, shared) ? asIsNode(sub) : closeNode(sub);
    };
    const opened = rewrite(node, change, 'open', shared);
    // Patterns allow other keys. Closing the level above must not forbid them.
    const leavesOthersAlone = node.patternProperties !== undefined && opened.additionalProperties === undefined;
    return leavesOthersAlone && node.unevaluatedProperties === undefined
      ? { ...opened, additionalProperties: true }
      : opened;
  }

  function asIs(node: JsonSchemaObject): JsonSchemaObject {
    return rewrite(node, asIsNode, 'asIs');
  }

  function asIsNode(node: JsonSchemaNode): JsonSchemaNode {
    return isSchemaObject(node) ? asIs(node) : node;
  }

  function rewrite(
    node: JsonSchemaObject,
    change: (sub: JsonSchemaNode, place: Place) => JsonSchemaNode,
    refMode: DefinitionMode = 'closed',
    shared?: ReadonlySet<string>,
  ): JsonSchemaObject {
    steps.take(4 * (1 + Object.keys(node).length));
    const { $defs: _defs, definitions: _definitions, $id: _id, $anchor: _anchor, ...kept } = node;
    const copy = mapSubschemas(kept, (sub, place) => (TESTS.has(place.keyword) ? asIsNode(sub) : change(sub, place)));
    return splitDependencies(withRef(copy, resolve(node), refMode, shared));
  }

  function withRef(
    copy: Record<string, unknown>,
    target: JsonSchemaNode | undefined,
    mode: DefinitionMode,
    shared: ReadonlySet<string> | undefined,
  ): JsonSchemaObject {
    if (target === undefined) return copy;
    if (isSchemaObject(target)) return { ...copy, $ref: definitions.refTo(target, mode, shared) };
    const { $ref: _ref, ...rest } = copy;
    return target ? rest : { ...rest, not: {} };
  }

  function isOnlyRef(node: JsonSchemaObject): boolean {
    if (node.$ref === undefined) return false;
    return (
      document.isOnlyRefRead || Object.keys(node).every((keyword) => keyword === '$ref' || ANNOTATIONS.has(keyword))
    );
  }

  /** The node and everything that applies to the same value. */
  function allParts(
    node: JsonSchemaNode | undefined,
    seen: Set<JsonSchemaNode> = new Set(),
  ): readonly JsonSchemaObject[] {
    if (!isSchemaObject(node) || seen.has(node)) return [];
    seen.add(node);
    steps.take();
    const condition = node.if as JsonSchemaNode | undefined;
    return [node, ...[...conjunctsOf(node).flat(), resolve(node), condition].flatMap((sub) => allParts(sub, seen))];
  }

  /** True for alternatives with nothing beside them that names keys: each can be closed by itself. */
  function isPureUnion(node: JsonSchemaObject): boolean {
    const unions = [node.anyOf, node.oneOf].filter((list) => list !== undefined);
    const isAlone = Object.keys(node).every((keyword) => UNION_BESIDE.has(keyword) || ANNOTATIONS.has(keyword));
    if (unions.length !== 1 || !isAlone) return false;
    return !describesObject(node) || listOf(unions[0]).every((branch) => allParts(branch).some(describesObject));
  }
}

/** They test whether a value fits and do not describe its keys; closed, they would give another result. */
const TESTS: ReadonlySet<string> = new Set(['not', 'if', 'contains', 'propertyNames']);
/** They apply to the same value as the schema that contains them. */
const IN_PLACE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
]);
const UNION_BESIDE: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'type']);

function isProperty({ keyword }: Place): boolean {
  return keyword === 'properties' || keyword === 'patternProperties';
}

function isShared({ keyword, key }: Place, shared: ReadonlySet<string>): boolean {
  if (/items$/i.test(keyword)) return shared.has(ITEMS);
  return shared.has(ANY_KEY) || (keyword === 'properties' && shared.has(String(key)));
}

/** Names that the schema requires without describing them count as known. */
function withNames(
  schema: JsonSchemaObject,
  demanded: readonly string[],
  declared: readonly string[],
): JsonSchemaObject {
  const known = new Set(declared);
  const missing = demanded.filter((name) => !known.has(name));
  if (missing.length === 0) return schema;
  const entries = [...mapOf(schema.properties), ...missing.map((name) => [name, {}] as const)];
  return { ...schema, properties: Object.fromEntries(entries) };
}

/** Under its old name, a schema that depends on a key does not count as naming keys. */
function splitDependencies(schema: JsonSchemaObject): JsonSchemaObject {
  const { dependencies, ...rest } = schema;
  if (!isSchemaObject(dependencies) || mapOf(dependencies).length === 0) return schema;
  const lists = Object.entries(dependencies).filter(([, value]) => Array.isArray(value));
  return {
    ...rest,
    dependentRequired: Object.fromEntries([...lists, ...Object.entries(schema.dependentRequired ?? {})]),
    dependentSchemas: Object.fromEntries([...mapOf(dependencies), ...mapOf(schema.dependentSchemas)]),
  };
}
