import { SchemaError } from '../errors.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import { createRefResolver, type ResolveRef } from './refs.ts';
import { isSchemaObject, listOf } from './subschemas.ts';

/** Throws where the schema would accept something else than an object: a tool's arguments are always one. */
export function assertObjectSchema(jsonSchema: JsonSchemaObject): void {
  if (isObjectSchema(jsonSchema, createRefResolver(jsonSchema), new Set())) return;
  const found = jsonSchema.type === undefined ? 'one without a type' : `one of type ${JSON.stringify(jsonSchema.type)}`;
  throw new SchemaError(
    `Expected a schema of an object, because the arguments of a tool always are one, got ${found}. Make it a property of an object.`,
  );
}

function isObjectSchema(node: JsonSchemaNode | undefined, resolve: ResolveRef, seen: ReadonlySet<unknown>): boolean {
  if (!isSchemaObject(node) || seen.has(node)) return false;
  const below = new Set(seen).add(node);
  const isObject = (sub: JsonSchemaNode | undefined): boolean => isObjectSchema(sub, resolve, below);
  if (node.type !== undefined) return [node.type].flat().every((type) => type === 'object');
  if (node.properties !== undefined) return true;
  if ([resolve(node), ...listOf(node.allOf)].some(isObject)) return true;
  return [listOf(node.anyOf), listOf(node.oneOf)].some((branches) => branches.length > 0 && branches.every(isObject));
}
