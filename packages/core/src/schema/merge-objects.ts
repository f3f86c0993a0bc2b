import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import { describesObject } from './object-level.ts';
import type { SchemaDocument } from './schema-document.ts';
import { isSchemaObject, listOf, mapOf, textsOf } from './subschemas.ts';

/**
 * One plain object for an `allOf` of plain objects with different keys: it means the same, can be closed, and is
 * understood by providers that do not support `allOf`. Undefined if the parts cannot be merged like this.
 */
export function mergeObjects(node: JsonSchemaObject, document: SchemaDocument): JsonSchemaObject | undefined {
  const parts = partsOf(node, document, new Set());
  if (parts === undefined || !parts.some(describesObject)) return undefined;
  const properties = parts.flatMap((part) => mapOf(part.properties));
  document.steps.take(properties.length);
  if (new Set(properties.map(([name]) => name)).size < properties.length) return undefined;
  const required = [...new Set(parts.flatMap((part) => textsOf(part.required)))];
  const { allOf: _allOf, $ref: _ref, ...own } = node;
  const { description } = parts.find((part) => part.description !== undefined) ?? {};
  const base = {
    ...(description === undefined ? {} : { description }),
    ...own,
    type: 'object',
    properties: Object.fromEntries(properties),
  };
  return required.length > 0 ? { ...base, required } : base;
}

// Apart from these, a merged part may have only annotations.
const MERGED: ReadonlySet<string> = new Set(['type', 'properties', 'required', 'allOf', '$ref']);
export const ANNOTATIONS: ReadonlySet<string> = new Set(
  `title description default examples example deprecated readOnly writeOnly $comment $schema $id $anchor $defs definitions
  discriminator`.split(/\s+/),
);

function partsOf(
  node: JsonSchemaNode,
  document: SchemaDocument,
  seen: Set<JsonSchemaNode>,
): readonly JsonSchemaObject[] | undefined {
  if (!isSchemaObject(node) || seen.has(node)) return undefined;
  seen.add(node);
  document.steps.take();
  if (!Object.keys(node).every((keyword) => MERGED.has(keyword) || ANNOTATIONS.has(keyword))) return undefined;
  if (node.type !== undefined && node.type !== 'object') return undefined;
  const target = node.$ref === undefined ? [] : [document.resolve(node) ?? false];
  const below = [...listOf(node.allOf), ...target].map((sub) => partsOf(sub, document, seen));
  return below.includes(undefined) ? undefined : [node, ...below.flatMap((parts) => parts ?? [])];
}
