import type { JsonSchemaObject } from './json-schema-object.ts';

/** What is wrong with a value, and where. */
export interface Problem {
  /** Like `items[2].price`; empty for the value as a whole. */
  readonly path: string;
  readonly message: string;
}

/** The value as the schema parsed it (defaults and transforms applied), or everything that is wrong with it. */
export type SchemaResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** A schema made ready: what a model is told, and what a value must fit. */
export interface CompiledSchema {
  /** What is advertised to the model. */
  jsonSchema(): JsonSchemaObject | Promise<JsonSchemaObject>;
  /** Never throws nor rejects. A promise only where the schema validates asynchronously. */
  validate(value: unknown): SchemaResult | Promise<SchemaResult>;
}
