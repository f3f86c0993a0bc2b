import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { SchemaError } from '../errors.ts';
import { describeError } from '../results/describe-error.ts';
import type { JsonSchemaObject } from './json-schema-object.ts';
import { isSchemaObject } from './subschemas.ts';

type Standard = StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;

/** The library's object under `~standard`, or undefined if there is none. Some libraries use functions as schemas. */
export function standardOf(schema: unknown): Standard | undefined {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return undefined;
  const standard = (schema as { '~standard'?: Partial<Standard> })['~standard'];
  return typeof standard?.validate === 'function' ? (standard as Standard) : undefined;
}

// The newest first; a library that does not support it may support the older one.
const TARGETS: readonly string[] = ['draft-2020-12', 'draft-07'];

/** The JSON Schema that the library makes from its schema, or a SchemaError that says how to supply one. */
export function convertStandard(standard: Standard, side: 'input' | 'output'): JsonSchemaObject {
  const convert = standard.jsonSchema?.[side];
  if (typeof convert !== 'function')
    throw new SchemaError(`No JSON Schema can be made of this ${standard.vendor} schema. ${hintFor(standard.vendor)}`);
  const reasons: unknown[] = [];
  for (const target of TARGETS) {
    try {
      const converted: unknown = convert.call(standard.jsonSchema, { target, ...libraryOptions(standard.vendor) });
      if (isSchemaObject(converted)) return converted;
      reasons.push(new TypeError(`its converter gave ${converted === null ? 'null' : typeof converted}`));
    } catch (reason) {
      reasons.push(reason);
    }
  }
  throw refusedConversion(standard.vendor, reasons[0]);
}

function hintFor(vendor: string): string {
  if (vendor === 'valibot') return 'Wrap it with toStandardJsonSchema() of @valibot/to-json-schema.';
  const upgrade = vendor === 'zod' ? 'Upgrade to a zod that has it, ' : '';
  return `${upgrade}${upgrade === '' ? 'Add' : 'add'} "~standard.jsonSchema" to it, or pass a JSON Schema with jsonSchema() instead.`;
}

function refusedConversion(vendor: string, cause: unknown): SchemaError {
  const reason = describeError(cause).message.replace(/\.?$/, '.');
  const hint =
    'A model writes JSON: use types that JSON has, e.g. a text that the schema turns into the wanted type, or pass a JSON Schema with jsonSchema() instead.';
  return new SchemaError(`No JSON Schema can be made of this ${vendor} schema: ${reason} ${hint}`, { cause });
}

/**
 * By default Valibot's converter does not mention a loose object's other keys, so the object would seem to have none.
 */
function libraryOptions(vendor: string): { libraryOptions?: Record<string, unknown> } {
  return vendor === 'valibot' ? { libraryOptions: { overrideSchema: openLooseObject } } : {};
}

function openLooseObject(context: { valibotSchema?: { type?: unknown }; jsonSchema: object }): object | undefined {
  return context.valibotSchema?.type === 'loose_object'
    ? { ...context.jsonSchema, additionalProperties: {} }
    : undefined;
}
