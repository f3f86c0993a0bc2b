import { type JsonSchemaObject, jsonSchema } from '@lastcall/core';
import { schemaSize } from '@lastcall/core/internal';
import { withoutPatterns } from './without-patterns.ts';

type Checked = ReturnType<typeof jsonSchema<unknown>>;

/**
 * Compiles a JSON schema that came as data, for tools and for checks of values. Throws a SchemaError if it cannot be used. Each
 * schema object is compiled once, however many agents have the tool.
 */
export function dataSchema(schema: JsonSchemaObject): Checked {
  const known = read.get(schema) ?? readSchema(schema);
  read.set(schema, known);
  return known;
}

const read = new WeakMap<JsonSchemaObject, Checked>();

function readSchema(schema: JsonSchemaObject): Checked {
  // Checked first, so that no other code walks a schema that is too large or too deep.
  schemaSize(schema);
  return jsonSchema<unknown>(withoutPatterns(schema), { origin: 'data' });
}

/** The schemas of a tool as data, for `tool()`. */
export function dataSchemas(config: {
  readonly inputSchema: JsonSchemaObject;
  readonly outputSchema?: JsonSchemaObject | undefined;
}): { readonly inputSchema: Checked; readonly outputSchema?: Checked } {
  const { inputSchema, outputSchema } = config;
  return {
    inputSchema: dataSchema(inputSchema),
    ...(outputSchema === undefined ? {} : { outputSchema: dataSchema(outputSchema) }),
  };
}
