import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import { isSchemaObject, listOf, mapOf, textsOf } from './subschemas.ts';

/** True if it describes an object's keys: `type: 'object'` or `properties`. A list of constants is already complete. */
export function describesObject(node: JsonSchemaNode): node is JsonSchemaObject {
  if (!isSchemaObject(node) || node.enum !== undefined || node.const !== undefined) return false;
  return node.type === undefined ? node.properties !== undefined : [node.type].flat().includes('object');
}

/**
 * True if the schema itself allows keys that it does not name. If no part has `properties`, a rule for names or for
 * their number allows them too: closed to every key, it could never be met.
 */
export function opensItself(node: JsonSchemaObject, parts: readonly JsonSchemaObject[] = [node]): boolean {
  if (node.additionalProperties !== undefined || node.unevaluatedProperties !== undefined) return true;
  if (node.patternProperties !== undefined) return true;
  const namesNone = parts.every((part) => part.properties === undefined);
  return namesNone && parts.some((part) => part.propertyNames !== undefined || part.minProperties !== undefined);
}

/** Names that are required, or required beside others. They count as known, even if `properties` leaves them out. */
export function demandedNames(node: JsonSchemaObject): readonly string[] {
  const dependent = [node.dependentRequired, node.dependencies].filter(isSchemaObject);
  return [...textsOf(node.required), ...dependent.flatMap((lists) => Object.entries(lists).flatMap(demandedBeside))];
}

function demandedBeside([name, names]: [string, unknown]): readonly string[] {
  return Array.isArray(names) ? [name, ...textsOf(names)] : [];
}

/**
 * The schemas that apply to the same value as this one, each unconditionally: none of them is an alternative to
 * another.
 */
export function conjunctsOf(node: JsonSchemaObject): readonly (readonly JsonSchemaNode[])[] {
  const dependent = [...mapOf(node.dependentSchemas), ...mapOf(node.dependencies)].map(([, sub]) => [sub]);
  const outcomes = node.if === undefined ? [] : [node.then, node.else].filter((one) => one !== undefined);
  const alternatives = [listOf(node.anyOf), listOf(node.oneOf), outcomes as JsonSchemaNode[]];
  return [...listOf(node.allOf).map((sub) => [sub]), ...alternatives, ...dependent].filter((group) => group.length > 0);
}
