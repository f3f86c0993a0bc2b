import type { JsonSchemaObject } from '@lastcall/core';

const SCHEMAS_BY_NAME = new Set(['properties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);
const LISTS_OF_SCHEMAS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
const SCHEMAS = new Set([
  ...['items', 'additionalItems', 'unevaluatedItems', 'contains', 'additionalProperties', 'unevaluatedProperties'],
  ...['propertyNames', 'not', 'if', 'then', 'else', 'contentSchema'],
]);

/**
 * The schema with its regular expressions moved into the descriptions, where a model reads them. They are never run, wherever they
 * stand: `origin: 'data'` sees to that. One such as `^(a+)+$` takes minutes on a short text, and nothing else happens meanwhile.
 */
export function withoutPatterns(schema: JsonSchemaObject): JsonSchemaObject {
  return strip(schema) as JsonSchemaObject;
}

function strip(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const { pattern, patternProperties, ...others } = schema;
  const copy = Object.fromEntries(Object.entries(others).map(([key, value]) => [key, stripKeyword(key, value)]));
  if (typeof pattern === 'string')
    copy.description = [schema.description, `Pattern: ${pattern}`].filter(Boolean).join(' ');
  // Names that a pattern allowed must not be refused now.
  if (patternProperties !== undefined) copy.additionalProperties = true;
  return copy;
}

function stripKeyword(keyword: string, value: unknown): unknown {
  if (SCHEMAS_BY_NAME.has(keyword) && isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, sub]) => [name, strip(sub)]));
  if (LISTS_OF_SCHEMAS.has(keyword) && Array.isArray(value)) return value.map(strip);
  return SCHEMAS.has(keyword) ? strip(value) : value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
