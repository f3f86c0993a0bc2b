import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import { conjunctsOf } from './object-level.ts';
import type { SchemaDocument } from './schema-document.ts';
import { isSchemaObject, mapOf } from './subschemas.ts';

/** Stands for the items of an array. */
export const ITEMS = '[]';
/** Stands for every key, where patterns say which. */
export const ANY_KEY = '*';

/**
 * The keys that several schemas describe at once. The value of such a key cannot be closed in one of them, because it
 * would refuse what only the other knows.
 */
export function sharedKeys(node: JsonSchemaObject, document: SchemaDocument): ReadonlySet<string> {
  const target = document.resolve(node);
  const groups = [...conjunctsOf(node), ...(target === undefined ? [] : [[target]])];
  const described = [ownKeys(node), ...groups.map((group) => union(group.map((sub) => keysOf(sub, document))))];
  const speaking = described.filter((keys) => keys.size > 0);
  const names = speaking.flatMap((keys) => [...keys]);
  document.steps.take(names.length);
  const [shared, once] = [new Set<string>(), new Set<string>()];
  for (const name of names) (once.has(name) ? shared : once).add(name);
  return speaking.length > 1 && names.includes(ANY_KEY) ? shared.add(ANY_KEY) : shared;
}

/** `properties`, and the placeholders for items and patterns. */
function ownKeys(node: JsonSchemaObject): ReadonlySet<string> {
  const keys = new Set(mapOf(node.properties).map(([key]) => key));
  if ([node.items, node.prefixItems, node.additionalItems].some((held) => typeof held === 'object')) keys.add(ITEMS);
  if (
    [node.patternProperties, node.additionalProperties].some(
      (held) => isSchemaObject(held) && Object.keys(held).length > 0,
    )
  )
    keys.add(ANY_KEY);
  return keys;
}

/** The keys that a schema, and all schemas that apply to the same value, describe. */
function keysOf(node: JsonSchemaNode, document: SchemaDocument): ReadonlySet<string> {
  if (!isSchemaObject(node)) return NONE;
  const known = keysIn.get(document) ?? new Map<JsonSchemaObject, ReadonlySet<string>>();
  keysIn.set(document, known);
  const before = known.get(node);
  if (before !== undefined) return before;
  // In a circle, the schema that led here already has them.
  known.set(node, NONE);
  const target = document.resolve(node);
  const beside = [...conjunctsOf(node).flat(), ...(target === undefined ? [] : [target])];
  const keys = union([ownKeys(node), ...beside.map((sub) => keysOf(sub, document))]);
  document.steps.take(1 + keys.size);
  known.set(node, keys);
  return keys;
}

const NONE: ReadonlySet<string> = new Set();
// References lead to the same schema again and again.
const keysIn = new WeakMap<SchemaDocument, Map<JsonSchemaObject, ReadonlySet<string>>>();

function union(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set(sets.flatMap((set) => [...set]));
}
