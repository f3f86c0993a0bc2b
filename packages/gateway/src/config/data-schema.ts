import { type JsonSchemaObject, jsonSchema } from '@lastcall/core';
import { schemaSize } from '@lastcall/core/internal';
import { withoutPatterns } from './without-patterns.ts';

type Checked = ReturnType<typeof jsonSchema<unknown>>;

/**
 * A schema that came as data, for tools and for checks of values. Throws a SchemaError if it cannot be used. The same object is read
 * once, however many agents have the tool.
 */
export function dataSchema(schema: JsonSchemaObject): Checked {
  const known = read.get(schema) ?? readSchema(schema);
  read.set(schema, known);
  return known;
}

const read = new WeakMap<JsonSchemaObject, Checked>();

function readSchema(schema: JsonSchemaObject): Checked {
  // What is too large or too deep is not walked over by anything else.
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
