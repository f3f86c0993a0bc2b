import { SchemaError } from '../errors.ts';
import type { JsonSchemaNode } from './json-schema-object.ts';
import type { SchemaDocument } from './schema-document.ts';
import { isSchemaObject, listOf } from './subschemas.ts';

/** Throws if the schema would accept something other than an object: a tool's arguments are always one. */
export function assertObjectSchema(document: SchemaDocument): void {
  const { root } = document;
  if (isObjectSchema(root, document, new Set())) return;
  const type = isSchemaObject(root) ? root.type : undefined;
  const found = type === undefined ? 'one without a type' : `one of type ${JSON.stringify(type)}`;
  throw new SchemaError(
    `Expected a schema of an object, because the arguments of a tool always are one, got ${found}. Make it a property of an object.`,
  );
}

function isObjectSchema(
  node: JsonSchemaNode | undefined,
  document: SchemaDocument,
  seen: ReadonlySet<unknown>,
): boolean {
  if (!isSchemaObject(node) || seen.has(node)) return false;
  document.steps.take(1 + seen.size);
  const below = new Set(seen).add(node);
  const isObject = (sub: JsonSchemaNode | undefined): boolean => isObjectSchema(sub, document, below);
  if (node.type !== undefined) return [node.type].flat().every((type) => type === 'object');
  if (node.properties !== undefined) return true;
  if ([document.resolve(node), ...listOf(node.allOf)].some(isObject)) return true;
  return [listOf(node.anyOf), listOf(node.oneOf)].some((branches) => branches.length > 0 && branches.every(isObject));
}
