import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import { conjunctsOf } from './object-level.ts';
import type { ResolveRef } from './refs.ts';
import { isSchemaObject, mapOf } from './subschemas.ts';

/** Stands for the items of an array. */
export const ITEMS = '[]';
/** Stands for every key, where patterns say which. */
export const ANY_KEY = '*';

/**
 * The keys that several schemas describe at once. What is below such a key cannot be closed in one of them, because it
 * would refuse what only the other knows.
 */
export function sharedKeys(node: JsonSchemaObject, resolve: ResolveRef): ReadonlySet<string> {
  const target = resolve(node);
  const groups = [...conjunctsOf(node), ...(target === undefined ? [] : [[target]])];
  const described = [
    ownKeys(node),
    ...groups.map((group) => union(group.map((sub) => keysOf(sub, resolve, new Set())))),
  ];
  const speaking = described.filter((keys) => keys.size > 0);
  const names = speaking.flatMap((keys) => [...keys]);
  const shared = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  return speaking.length > 1 && names.includes(ANY_KEY) ? shared.add(ANY_KEY) : shared;
}

/** `properties`, and what stands for items and patterns. */
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

function keysOf(node: JsonSchemaNode, resolve: ResolveRef, seen: Set<JsonSchemaNode>): ReadonlySet<string> {
  if (!isSchemaObject(node) || seen.has(node)) return new Set();
  seen.add(node);
  const target = resolve(node);
  const beside = [...conjunctsOf(node).flat(), ...(target === undefined ? [] : [target])];
  return union([ownKeys(node), ...beside.map((sub) => keysOf(sub, resolve, seen))]);
}

function union(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set(sets.flatMap((set) => [...set]));
}
