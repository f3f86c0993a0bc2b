/** A JSON Schema as plain data. */
export type JsonSchemaObject = { readonly [keyword: string]: unknown };

/** A schema or one of its parts: `true` accepts everything, `false` nothing. */
export type JsonSchemaNode = JsonSchemaObject | boolean;
