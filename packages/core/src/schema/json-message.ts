import type { OutputUnit } from '@cfworker/json-schema';
import { isSchemaObject, textsOf } from './subschemas.ts';

/** What to tell a model: what was expected and what came. `key` where the problem is that of a property. */
export interface JsonMessage {
  readonly message: string;
  readonly key?: string;
}

type Schema = Readonly<Record<string, unknown>>;

/** The messages for one error of the interpreter. `holder` is the keyword that holds the schema. */
export function messageOf(
  error: OutputUnit,
  schema: Schema,
  value: unknown,
  holder: string | undefined,
): readonly JsonMessage[] {
  if (error.keyword === 'required') return missing(textsOf(schema.required), value, 'required, but missing');
  if (error.keyword === 'dependentRequired') return missingBeside(schema.dependentRequired, value);
  if (error.keyword === 'not') return [{ message: unwanted(schema.not, value, holder) }];
  return [{ message: MESSAGES[error.keyword]?.(schema, value) ?? error.error }];
}

function missing(names: readonly string[], value: unknown, message: string): readonly JsonMessage[] {
  const object = isSchemaObject(value) ? value : {};
  return names.filter((name) => !Object.hasOwn(object, name)).map((key) => ({ key, message }));
}

function missingBeside(dependent: unknown, value: unknown): readonly JsonMessage[] {
  const present = Object.entries(dependent ?? {}).filter(
    ([name]) => isSchemaObject(value) && Object.hasOwn(value, name),
  );
  return present.flatMap(([name, names]) =>
    missing(textsOf(names), value, `required beside ${JSON.stringify(name)}, but missing`),
  );
}

function unwanted(not: unknown, value: unknown, holder: string | undefined): string {
  const isNever = isSchemaObject(not) && Object.keys(not).length === 0;
  if (!isNever) return `must not fit ${showValue(not)}, got ${got(value)}`;
  if (holder === 'additionalProperties' || holder === 'unevaluatedProperties') return 'unknown key';
  return holder !== undefined && /items$/i.test(holder)
    ? 'unexpected item: the list ends before it'
    : 'not allowed here';
}

const MESSAGES: Readonly<Record<string, (schema: Schema, value: unknown) => string>> = {
  type: ({ type }, value) => `expected ${Array.isArray(type) ? type.join(' or ') : type}, got ${got(value)}`,
  const: (schema, value) => `expected ${showValue(schema.const)}, got ${got(value)}`,
  enum: (schema, value) => `expected one of ${showAll(schema.enum)}, got ${got(value)}`,
  minimum: (schema, value) =>
    `expected ${schema.exclusiveMinimum === true ? 'more than' : 'at least'} ${schema.minimum}, got ${got(value)}`,
  maximum: (schema, value) =>
    `expected ${schema.exclusiveMaximum === true ? 'less than' : 'at most'} ${schema.maximum}, got ${got(value)}`,
  exclusiveMinimum: (schema, value) => `expected more than ${schema.exclusiveMinimum}, got ${got(value)}`,
  exclusiveMaximum: (schema, value) => `expected less than ${schema.exclusiveMaximum}, got ${got(value)}`,
  multipleOf: (schema, value) => `expected a multiple of ${schema.multipleOf}, got ${got(value)}`,
  minLength: (schema, value) => `expected at least ${schema.minLength} characters, got ${got(value)}`,
  maxLength: (schema, value) => `expected at most ${schema.maxLength} characters, got ${lengthOf(value)}`,
  pattern: (schema, value) => `expected a text that matches /${schema.pattern}/, got ${got(value)}`,
  format: (schema, value) => `expected a text in the format "${schema.format}", got ${got(value)}`,
  minItems: (schema, value) => `expected at least ${schema.minItems} items, got ${sizeOf(value)}`,
  maxItems: (schema, value) => `expected at most ${schema.maxItems} items, got ${sizeOf(value)}`,
  uniqueItems: () => 'expected no item twice',
  contains: (schema) => `expected an item that fits ${showValue(schema.contains)}`,
  minContains: (schema) => `expected at least ${schema.minContains} items that fit ${showValue(schema.contains)}`,
  maxContains: (schema) => `expected at most ${schema.maxContains} items that fit ${showValue(schema.contains)}`,
  minProperties: (schema, value) => `expected at least ${schema.minProperties} properties, got ${sizeOf(value)}`,
  maxProperties: (schema, value) => `expected at most ${schema.maxProperties} properties, got ${sizeOf(value)}`,
};

function got(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `${typeof value} ${showValue(value)}`;
}

function showAll(values: unknown): string {
  return Array.isArray(values) ? values.map(showValue).join(', ') : showValue(values);
}

function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

function lengthOf(value: unknown): number {
  return [...String(value)].length;
}

const LONGEST_SHOWN = 80;

/** A value as JSON, short enough for a message. */
function showValue(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}…`;
}
