import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';

/** How a keyword holds schemas. What is not here (`enum`, `const`, `default`, …) holds data, however it looks. */
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
  const entries = Object.entries(schema).map(
    ([keyword, value]) => [keyword, mapKeyword(keyword, value, change)] as const,
  );
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function mapKeyword(keyword: string, value: unknown, change: (sub: JsonSchemaNode, place: Place) => unknown): unknown {
  const holder = HOLDERS.get(keyword);
  if (holder === undefined) return value;
  if (Array.isArray(value)) return value.map((sub, key) => (isSchemaNode(sub) ? change(sub, { keyword, key }) : sub));
  if (holder !== 'map') return isSchemaNode(value) ? change(value, { keyword }) : value;
  if (!isSchemaObject(value)) return value;
  // Through entries, because `__proto__` is a legal property name and must stay one.
  const entries = Object.entries(value).map(([key, sub]) => [
    key,
    isSchemaNode(sub) ? change(sub, { keyword, key }) : sub,
  ]);
  return Object.fromEntries(entries.filter(([, sub]) => sub !== undefined));
}

export function forEachSubschema(schema: JsonSchemaObject, visit: (sub: JsonSchemaNode, place: Place) => void): void {
  mapSubschemas(schema, (sub, place) => {
    visit(sub, place);
    return sub;
  });
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
