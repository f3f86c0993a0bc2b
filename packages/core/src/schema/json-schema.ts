import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { SchemaError } from '../errors.ts';
import { describeError } from '../results/describe-error.ts';
import { cloneJson } from './clone-json.ts';
import type { JsonSchemaObject } from './json-schema-object.ts';
import { createJsonValidator } from './json-validator.ts';
import { openDocument, type SchemaDocument, type SchemaOrigin } from './schema-document.ts';
import { isSchemaNode } from './subschemas.ts';
import { assertWellFormed, notASchemaNode } from './well-formed.ts';

/** Both standards at once: it validates, and it knows its JSON Schema. */
export type ValidatedJsonSchema<T> = StandardSchemaV1<unknown, T> & StandardJSONSchemaV1<unknown, T>;

// Closing a schema to extra keys needs the document itself, not a converter's version of it.
const documents = new WeakMap<object, SchemaDocument>();

/**
 * Validates with any JSON Schema: all problems are listed, and a valid value gets the `default` of each property it
 * leaves out (except inside `anyOf`, `oneOf` and `if`). The draft is the one that `$schema` names, 2020-12 otherwise.
 * Throws a SchemaError if the schema itself is malformed.
 *
 * @param options.origin 'data' for a schema that you did not write: its size is limited, its patterns are not run, and
 * a check that takes too many steps refuses the value. Default: 'code'.
 */
export function jsonSchema<T = Record<string, unknown>>(
  schema: JsonSchemaObject | boolean,
  options: { readonly origin?: SchemaOrigin } = {},
): ValidatedJsonSchema<T> {
  return fromDocument<T>(readDocument(schema, options.origin ?? 'code'));
}

export function fromDocument<T = Record<string, unknown>>(document: SchemaDocument): ValidatedJsonSchema<T> {
  const { root } = document;
  const validate = createJsonValidator(document) as StandardSchemaV1.Props<unknown, T>['validate'];
  const convert = (): Record<string, unknown> =>
    typeof root === 'boolean' ? (root ? {} : { not: {} }) : cloneJson(root);
  const standard = {
    version: 1,
    vendor: 'lastcall',
    validate,
    jsonSchema: { input: convert, output: convert },
  } as const;
  const result: ValidatedJsonSchema<T> = { '~standard': standard };
  documents.set(result, document);
  return result;
}

/** The document that was passed to `jsonSchema()`, if this is its result. */
export function documentOf(schema: object): SchemaDocument | undefined {
  return documents.get(schema);
}

/** A checked copy: later changes by the caller have no effect here. */
function readDocument(schema: unknown, origin: SchemaOrigin): SchemaDocument {
  try {
    if (!isSchemaNode(schema)) throw notASchemaNode(schema);
    assertWellFormed(openDocument(schema, origin));
    return openDocument(cloneJson(schema), origin);
  } catch (cause) {
    if (cause instanceof SchemaError) throw cause;
    throw new SchemaError(`The JSON Schema cannot be read: ${describeError(cause).message}`, { cause });
  }
}
