import type { JsonSchemaObject } from '@lastcall/core';

const SCHEMAS_BY_NAME = new Set(['properties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);
const LISTS_OF_SCHEMAS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
const SCHEMAS = new Set([
  ...['items', 'additionalItems', 'unevaluatedItems', 'contains', 'additionalProperties', 'unevaluatedProperties'],
  ...['propertyNames', 'not', 'if', 'then', 'else', 'contentSchema'],
]);

type Schema = Record<string, unknown>;

/**
 * The schema with its regular expressions moved into the descriptions, where a model reads them: in all subschemas, and in those
 * that a reference points to. The gateway never runs them: one such as `^(a+)+$` takes minutes on a short text and blocks the
 * process.
 */
export function withoutPatterns(schema: JsonSchemaObject): JsonSchemaObject {
  const copy = structuredClone(schema);
  const seen = new Set<object>();
  strip(copy, seen);
  for (const ref of refsIn(copy)) strip(targetOf(copy, ref), seen);
  return copy;
}

function strip(schema: unknown, seen: Set<object>): void {
  if (!isObject(schema) || seen.has(schema)) return;
  seen.add(schema);
  const { pattern, patternProperties } = schema;
  if (typeof pattern === 'string')
    schema.description = [schema.description, `Pattern: ${pattern}`].filter(Boolean).join(' ');
  // Property names that a pattern allowed must still be allowed.
  if (patternProperties !== undefined) schema.additionalProperties = true;
  delete schema.pattern;
  delete schema.patternProperties;
  for (const sub of Object.entries(schema).flatMap(subschemas)) strip(sub, seen);
}

function subschemas([keyword, value]: [string, unknown]): readonly unknown[] {
  if (SCHEMAS_BY_NAME.has(keyword) && isObject(value)) return Object.values(value);
  if (LISTS_OF_SCHEMAS.has(keyword) && Array.isArray(value)) return value;
  return SCHEMAS.has(keyword) ? [value] : [];
}

/** Includes references outside of schemas, since another reference may point there. */
function refsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { $ref } = value as { readonly $ref?: unknown };
  return [...(typeof $ref === 'string' ? [$ref] : []), ...Object.values(value).flatMap(refsIn)];
}

function targetOf(root: unknown, ref: string): unknown {
  const [address, pointer = ''] = ref.split('#', 2);
  if (address !== '' || !pointer.startsWith('/')) return undefined;
  return pointer.split('/').slice(1).reduce<unknown>(stepInto, root);
}

function stepInto(place: unknown, segment: string): unknown {
  const key = decoded(segment).replaceAll('~1', '/').replaceAll('~0', '~');
  return typeof place === 'object' && place !== null && Object.hasOwn(place, key) ? (place as Schema)[key] : undefined;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
