import type { JsonSchemaObject } from './json-schema-object.ts';

/** A problem with a value, and where it is. */
export interface Problem {
  /** Like `items[2].price`; empty for the value as a whole. */
  readonly path: string;
  readonly message: string;
}

/** The value as the schema parsed it (defaults and transforms applied), or everything that is wrong with it. */
export type SchemaResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** A compiled schema: what a model is shown, and what a value must fit. */
export interface CompiledSchema {
  /** The schema that is advertised to the model. */
  jsonSchema(): JsonSchemaObject | Promise<JsonSchemaObject>;
  /** Never throws or rejects. Returns a promise only if the schema validates asynchronously. */
  validate(value: unknown): SchemaResult | Promise<SchemaResult>;
}
