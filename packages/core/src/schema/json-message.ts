import { type Finding, keysIn, type Run } from './check.ts';
import { showJson } from './show-json.ts';
import { isSchemaObject, textsOf } from './subschemas.ts';
import { textLength } from './text-length.ts';

/** A message for a model: what was expected and what was given. `key` is set if the problem is a property's. */
export interface JsonMessage {
  readonly message: string;
  readonly key?: string;
}

type Schema = Readonly<Record<string, unknown>>;

/** The messages for one finding, counted in the steps of the check. */
export function messageOf({ keyword, schema, value, holder }: Finding, run: Run): readonly JsonMessage[] {
  if (!isSchemaObject(schema)) return [{ message: notAllowed(holder) }];
  if (keyword === 'required') return missing(textsOf(schema.required), value, 'required, but missing', run);
  if (keyword === 'dependentRequired' || keyword === 'dependencies') return missingBeside(schema[keyword], value, run);
  if (keyword === 'not') return [{ message: unwanted(schema.not, value, holder) }];
  return [{ message: MESSAGES[keyword]?.(schema, value, run) ?? 'does not fit the schema' }];
}

function missing(names: readonly string[], value: unknown, message: string, run: Run): readonly JsonMessage[] {
  run.steps.take(names.length);
  const object = isSchemaObject(value) ? value : {};
  return names.filter((name) => !Object.hasOwn(object, name)).map((key) => ({ key, message }));
}

function missingBeside(dependent: unknown, value: unknown, run: Run): readonly JsonMessage[] {
  const lists = Object.entries(dependent ?? {});
  run.steps.take(lists.length);
  const present = lists.filter(([name]) => isSchemaObject(value) && Object.hasOwn(value, name));
  return present.flatMap(([name, names]) =>
    missing(textsOf(names), value, `required beside ${showJson(name)}, but missing`, run),
  );
}

function unwanted(not: unknown, value: unknown, holder: string | undefined): string {
  const isNever = not === true || (isSchemaObject(not) && Object.keys(not).length === 0);
  return isNever ? notAllowed(holder) : `must not fit ${showJson(not)}, got ${got(value)}`;
}

function notAllowed(holder: string | undefined): string {
  if (holder === 'additionalProperties' || holder === 'unevaluatedProperties') return 'unknown key';
  return holder !== undefined && /items$/i.test(holder)
    ? 'unexpected item: the list ends before it'
    : 'not allowed here';
}

const MESSAGES: Readonly<Record<string, (schema: Schema, value: unknown, run: Run) => string>> = {
  type: ({ type }, value) => `expected ${Array.isArray(type) ? type.join(' or ') : type}, got ${got(value)}`,
  const: (schema, value) => `expected ${showJson(schema.const)}, got ${got(value)}`,
  enum: (schema, value, run) => `expected one of ${showAll(schema.enum, run)}, got ${got(value)}`,
  minimum: (schema, value) =>
    `expected ${schema.exclusiveMinimum === true ? 'more than' : 'at least'} ${schema.minimum}, got ${got(value)}`,
  maximum: (schema, value) =>
    `expected ${schema.exclusiveMaximum === true ? 'less than' : 'at most'} ${schema.maximum}, got ${got(value)}`,
  exclusiveMinimum: (schema, value) => `expected more than ${schema.exclusiveMinimum}, got ${got(value)}`,
  exclusiveMaximum: (schema, value) => `expected less than ${schema.exclusiveMaximum}, got ${got(value)}`,
  multipleOf: (schema, value) => `expected a multiple of ${schema.multipleOf}, got ${got(value)}`,
  minLength: (schema, value) => `expected at least ${schema.minLength} characters, got ${got(value)}`,
  maxLength: (schema, value, run) =>
    `expected at most ${schema.maxLength} characters, got ${lengthOf(String(value), run)}`,
  pattern: (schema, value) => `expected a text that matches /${schema.pattern}/, got ${got(value)}`,
  format: (schema, value) => `expected a text in the format "${schema.format}", got ${got(value)}`,
  minItems: (schema, value) => `expected at least ${schema.minItems} items, got ${sizeOf(value)}`,
  maxItems: (schema, value) => `expected at most ${schema.maxItems} items, got ${sizeOf(value)}`,
  uniqueItems: () => 'expected no item twice',
  contains: (schema) => `expected an item that fits ${showJson(schema.contains)}`,
  minContains: (schema) => `expected at least ${schema.minContains} items that fit ${showJson(schema.contains)}`,
  maxContains: (schema) => `expected at most ${schema.maxContains} items that fit ${showJson(schema.contains)}`,
  minProperties: (schema, value, run) =>
    `expected at least ${schema.minProperties} properties, got ${keysIn(value as object, run).length}`,
  maxProperties: (schema, value, run) =>
    `expected at most ${schema.maxProperties} properties, got ${keysIn(value as object, run).length}`,
};

function got(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `${typeof value} ${showJson(value)}`;
}

const MOST_VALUES_SHOWN = 100;
/** The cost of showing one value: its first characters are escaped and copied. */
const SHOWING_STEPS = 10;

function showAll(values: unknown, { steps }: Run): string {
  if (!Array.isArray(values)) return showJson(values);
  steps.take(SHOWING_STEPS * Math.min(values.length, MOST_VALUES_SHOWN));
  const shown = values.slice(0, MOST_VALUES_SHOWN).map(showJson).join(', ');
  return values.length <= MOST_VALUES_SHOWN ? shown : `${shown} and ${values.length - MOST_VALUES_SHOWN} more`;
}

function lengthOf(text: string, { steps }: Run): number {
  steps.takeText(text.length * 4);
  return textLength(text);
}

function sizeOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
