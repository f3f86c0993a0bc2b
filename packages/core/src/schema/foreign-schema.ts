import { SchemaError } from '../errors.ts';
import { closeObjects } from './close-objects.ts';
import type { JsonSchemaObject } from './json-schema-object.ts';
import type { CompiledSchema, SchemaResult } from './schema-result.ts';
import { refused, settleWith } from './settle.ts';
import { convertStandard, standardOf } from './standard-schema.ts';
import { createStandardValidate } from './standard-validate.ts';

/** The AI SDK's own kind of schema, recognised by its shape. */
interface AiSdkSchema {
  readonly jsonSchema: JsonSchemaObject | PromiseLike<JsonSchemaObject>;
  readonly validate?: ((value: unknown) => unknown) | undefined;
}

const ANYTHING: CompiledSchema = {
  jsonSchema: () => ({ type: 'object', properties: {} }),
  validate: (value) => ({ ok: true, value }),
};

/** Any schema that the AI SDK accepts: its own kind, a function that returns one, a Standard Schema, or none. */
export function compileForeign(schema: object | undefined): CompiledSchema {
  if (schema === undefined) return ANYTHING;
  const standard = standardOf(schema);
  if (standard !== undefined) return compileForeignStandard(standard);
  if (typeof schema === 'function') return compileLazily(schema as () => unknown);
  if (isAiSdkSchema(schema)) return compileAiSdkSchema(schema);
  throw new SchemaError(
    'Expected a schema of the AI SDK or a Standard Schema, got another object. Zod 3 has none before 3.24: upgrade, or pass jsonSchema().',
  );
}

/**
 * Like the AI SDK: advertised as closed, enforced by the library's own rules. Without a JSON Schema only advertising
 * fails.
 */
function compileForeignStandard(standard: NonNullable<ReturnType<typeof standardOf>>): CompiledSchema {
  let advertised: JsonSchemaObject | undefined;
  return {
    jsonSchema: () => {
      advertised ??= closeObjects(convertStandard(standard, 'input'));
      return advertised;
    },
    validate: createStandardValidate(standard),
  };
}

/** A lazy schema is resolved on first use. */
function compileLazily(make: () => unknown): CompiledSchema {
  let made: CompiledSchema | undefined;
  const get = (): CompiledSchema => {
    made ??= compileForeign(objectOf(make()));
    return made;
  };
  return {
    jsonSchema: () => get().jsonSchema(),
    validate: (value) =>
      settleWith(
        () => get().validate(value),
        (result) => result as SchemaResult,
      ),
  };
}

function objectOf(made: unknown): object {
  if ((typeof made === 'object' && made !== null) || typeof made === 'function') return made;
  throw new SchemaError(
    `Expected the lazy schema to give a schema of the AI SDK, got ${made === null ? 'null' : typeof made}.`,
  );
}

function isAiSdkSchema(schema: object): schema is AiSdkSchema {
  return 'jsonSchema' in schema && ['function', 'undefined'].includes(typeof (schema as Partial<AiSdkSchema>).validate);
}

function compileAiSdkSchema(schema: AiSdkSchema): CompiledSchema {
  const { validate } = schema;
  return {
    jsonSchema: () => {
      const given = schema.jsonSchema;
      return isPromiseLike(given) ? Promise.resolve(given) : given;
    },
    validate:
      validate === undefined
        ? ANYTHING.validate
        : (value) => settleWith(() => validate.call(schema, value), settleAiSdk),
  };
}

/** A JSON Schema may have a `then` too, as a keyword. */
function isPromiseLike(given: AiSdkSchema['jsonSchema']): given is PromiseLike<JsonSchemaObject> {
  return typeof given.then === 'function';
}

function settleAiSdk(result: unknown): SchemaResult {
  const { success, value, error } = result as { success?: unknown; value?: unknown; error?: unknown };
  return success === true ? { ok: true, value } : refused(issuesOf(error));
}

/** The issues inside an error of the AI SDK or of a library, or the error as the only issue. */
function issuesOf(error: unknown): unknown {
  const { issues, cause, message } = (error ?? {}) as { issues?: unknown; cause?: unknown; message?: unknown };
  const candidates = [issues, (cause as { issues?: unknown } | null | undefined)?.issues, cause];
  return candidates.find((one) => Array.isArray(one) && one.length > 0) ?? [{ message }];
}
