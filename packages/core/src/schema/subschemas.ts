import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';

/**
 * How a keyword contains schemas. Keywords that are not listed (`enum`, `const`, `default`, …) contain data, even if it
 * looks like a schema.
 */
type Holder = 'one' | 'list' | 'map' | 'one-or-list';

const HOLDERS: ReadonlyMap<string, Holder> = new Map<string, Holder>([
  ['properties', 'map'],
  ['patternProperties', 'map'],
  ['additionalProperties', 'one'],
  ['unevaluatedProperties', 'one'],
  ['propertyNames', 'one'],
  ['items', 'one-or-list'],
  ['prefixItems', 'list'],
  ['additionalItems', 'one'],
  ['unevaluatedItems', 'one'],
  ['contains', 'one'],
  ['allOf', 'list'],
  ['anyOf', 'list'],
  ['oneOf', 'list'],
  ['not', 'one'],
  ['if', 'one'],
  ['then', 'one'],
  ['else', 'one'],
  ['dependentSchemas', 'map'],
  ['dependencies', 'map'],
  ['$defs', 'map'],
  ['definitions', 'map'],
]);

export interface Place {
  readonly keyword: string;
  /** The name in a map or the index in a list. */
  readonly key?: string | number;
}

export function isSchemaObject(value: unknown): value is JsonSchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isSchemaNode(value: unknown): value is JsonSchemaNode {
  return typeof value === 'boolean' || isSchemaObject(value);
}

export function holderOf(keyword: string): Holder | undefined {
  return HOLDERS.get(keyword);
}

/** A copy with each direct subschema replaced; `undefined` leaves the subschema out. */
export function mapSubschemas(
  schema: JsonSchemaObject,
  change: (sub: JsonSchemaNode, place: Place) => unknown,
): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    const mapped = HOLDERS.has(keyword) ? mapKeyword(keyword, value, change) : value;
    if (mapped !== undefined) setOwn(copy, keyword, mapped);
  }
  return copy;
}

function mapKeyword(keyword: string, value: unknown, change: (sub: JsonSchemaNode, place: Place) => unknown): unknown {
  if (Array.isArray(value)) return value.map((sub, key) => (isSchemaNode(sub) ? change(sub, { keyword, key }) : sub));
  if (HOLDERS.get(keyword) !== 'map') return isSchemaNode(value) ? change(value, { keyword }) : value;
  if (!isSchemaObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const sub = value[key];
    const mapped = isSchemaNode(sub) ? change(sub, { keyword, key }) : sub;
    if (mapped !== undefined) setOwn(copy, key, mapped);
  }
  return copy;
}

/** `__proto__` is a legal property name and must stay one. */
function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

export function forEachSubschema(schema: JsonSchemaObject, visit: (sub: JsonSchemaNode) => void): void {
  for (const keyword of Object.keys(schema)) {
    const holder = HOLDERS.get(keyword);
    const held = schema[keyword];
    if (holder === undefined) continue;
    if (Array.isArray(held)) for (const sub of listOf(held)) visit(sub);
    else if (holder !== 'map' && isSchemaNode(held)) visit(held);
    else if (holder === 'map') for (const [, sub] of mapOf(held)) visit(sub);
  }
}

/** The schemas in a list keyword. */
export function listOf(value: unknown): readonly JsonSchemaNode[] {
  return Array.isArray(value) ? value.filter(isSchemaNode) : [];
}

/** The schemas in a map keyword, with their names. */
export function mapOf(value: unknown): readonly (readonly [name: string, schema: JsonSchemaNode])[] {
  if (!isSchemaObject(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, JsonSchemaNode] => isSchemaNode(entry[1]));
}

/** The texts in a keyword such as `required`. */
export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}
