import { SchemaError } from '../errors.ts';
import { isPlainObject } from './clone-json.ts';
import { closeObjects } from './close-objects.ts';
import { compileExtraKeyFinder } from './extra-keys.ts';
import { compileForeign } from './foreign-schema.ts';
import { documentOf, fromDocument, jsonSchema } from './json-schema.ts';
import type { JsonSchemaObject } from './json-schema-object.ts';
import { assertObjectSchema } from './object-schema.ts';
import { openDocument, type SchemaDocument } from './schema-document.ts';
import type { CompiledSchema } from './schema-result.ts';
import { convertStandard, standardOf } from './standard-schema.ts';
import { createStandardValidate } from './standard-validate.ts';

const inputs = new WeakMap<object, CompiledSchema>();
const outputs = new WeakMap<object, CompiledSchema>();
const foreignSchemas = new WeakMap<object, CompiledSchema>();

/**
 * The input schema of our own tools: a Standard Schema with a JSON Schema, or a JSON Schema. It is closed to extra keys
 * at every level that it does not open itself, both as advertised and as enforced. Throws a SchemaError if it cannot be
 * used.
 */
export function compileSchema(schema: unknown): CompiledSchema {
  return compileOnce(inputs, schema, compileInput);
}

/** An output schema: no model writes to it, so it needs no JSON Schema and is not closed. */
export function compileOutputSchema(schema: unknown): CompiledSchema {
  return compileOnce(outputs, schema, compileOutput);
}

/** The schema of a tool made by the AI SDK, which keeps its own strictness. Without a schema, anything is accepted. */
export function compileForeignSchema(schema: unknown): CompiledSchema {
  return schema === undefined || schema === null
    ? compileForeign(undefined)
    : compileOnce(foreignSchemas, schema, compileForeign);
}

/** A definition is often spread and wrapped, but its schema object stays the same, so it is compiled once. */
function compileOnce(
  cache: WeakMap<object, CompiledSchema>,
  schema: unknown,
  compile: (schema: object) => CompiledSchema,
): CompiledSchema {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) throw notASchema(schema);
  const known = cache.get(schema);
  if (known !== undefined) return known;
  const compiled = compile(schema);
  cache.set(schema, compiled);
  return compiled;
}

function compileInput(schema: object): CompiledSchema {
  const standard = standardOf(schema);
  const document = standard === undefined ? documentOf(readJsonSchema(schema)) : documentOf(schema);
  if (document !== undefined) return compileDocument(document);
  if (standard === undefined) throw notASchema(schema);
  const advertised = closeInput(openDocument(convertStandard(standard, 'input')));
  const validate = createStandardValidate(standard, compileExtraKeyFinder(advertised));
  return { jsonSchema: () => advertised.root as JsonSchemaObject, validate };
}

/** The interpreter reads the exact schema that is advertised, so the two cannot differ. */
function compileDocument(document: SchemaDocument): CompiledSchema {
  const advertised = closeInput(document);
  const standard = fromDocument(advertised)['~standard'];
  return { jsonSchema: () => advertised.root as JsonSchemaObject, validate: createStandardValidate(standard) };
}

function closeInput(document: SchemaDocument): SchemaDocument {
  assertObjectSchema(document);
  const closed = closeObjects(document.root as JsonSchemaObject, document);
  // Providers look for the type at the root, even if the alternatives state it.
  return openDocument(closed.type === undefined ? { type: 'object', ...closed } : closed, document.origin);
}

function compileOutput(schema: object): CompiledSchema {
  const standard = standardOf(schema) ?? readJsonSchema(schema)['~standard'];
  return {
    jsonSchema: () => convertStandard(standard, 'output'),
    validate: createStandardValidate(standard),
  };
}

function readJsonSchema(schema: object): ReturnType<typeof jsonSchema> {
  if (!isPlainObject(schema) || typeof schema['~standard'] === 'object' || isAiSdkSchema(schema))
    throw notASchema(schema);
  const key = Object.keys(schema).find((name) => standardOf((schema as Record<string, unknown>)[name]) !== undefined);
  if (key === undefined) return jsonSchema(schema);
  throw new SchemaError(
    `Expected one schema, got an object whose values are schemas. Make it one schema, e.g. z.object({ ${key}: … }).`,
  );
}

function isAiSdkSchema(schema: object): boolean {
  return Symbol.for('vercel.ai.schema') in schema;
}

function notASchema(schema: unknown): SchemaError {
  const found = Array.isArray(schema) ? 'an array' : schema === null ? 'null' : typeof schema;
  const hint =
    typeof schema === 'object' && schema !== null && isAiSdkSchema(schema)
      ? ' For a schema of the AI SDK, pass the JSON Schema itself.'
      : '';
  return new SchemaError(
    `Expected a Standard Schema (zod, valibot, arktype, …) or a JSON Schema object, got ${found}.${hint}`,
  );
}
