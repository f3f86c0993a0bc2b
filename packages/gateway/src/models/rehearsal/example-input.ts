import { type JsonSchemaObject, jsonSchema } from '@lastcall/core';
import type { ExampleHints } from './example-hints.ts';
import { exampleText } from './example-text.ts';

/** An input that fits the schema: with what the hints offer where that fits, and otherwise the plainest there is. */
export function exampleInput(schema: unknown, hints: ExampleHints): Record<string, unknown> {
  const root = isSchema(schema) ? schema : {};
  const candidates = [hints, { ...hints, text: '' }].map((given) =>
    toValue(root, { root, hints: given, depth: 0 }, ''),
  );
  const objects = candidates.filter((value): value is Record<string, unknown> => isSchema(value));
  return objects.find((value) => fits(root, value)) ?? objects[0] ?? {};
}

type Schema = JsonSchemaObject;

interface Making {
  readonly root: Schema;
  readonly hints: ExampleHints;
  readonly depth: number;
}

// A schema that contains itself never ends; nothing that a model is asked for is so deep.
const DEEPEST = 12;

function toValue(given: unknown, making: Making, key: string): unknown {
  if (!isSchema(given) || making.depth > DEEPEST) return making.hints.text === '' ? 'example' : making.hints.text;
  const schema = flatten(given, making.root);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
  if ('default' in schema) return schema.default;
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  return ofType(typeOf(schema), schema, { ...making, depth: making.depth + 1 }, key);
}

function ofType(type: string, schema: Schema, making: Making, key: string): unknown {
  switch (type) {
    case 'object':
      return toObject(schema, making);
    case 'array':
      return toArray(schema, making, key);
    case 'number':
    case 'integer':
      return toNumber(schema, type === 'integer');
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return exampleText(schema, key, making.hints);
  }
}

/** The schema with its references followed, the parts of `allOf` joined, and the first of its alternatives taken. */
function flatten(schema: Schema, root: Schema, depth: number = 0): Schema {
  if (depth > DEEPEST) return schema;
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const alternative = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? [firstUseful(list)] : []));
  const parts = [resolveRef($ref, root), ...(Array.isArray(allOf) ? allOf : []), ...alternative].filter(isSchema);
  return parts.map((part) => flatten(part, root, depth + 1)).reduce(join, own);
}

/** "Or null" is written as an alternative: the other one says more. */
function firstUseful(alternatives: readonly unknown[]): unknown {
  return alternatives.find((one) => isSchema(one) && one.type !== 'null') ?? alternatives[0];
}

function join(one: Schema, other: Schema): Schema {
  const required = [...listOf(one.required), ...listOf(other.required)];
  const properties = { ...propertiesOf(one), ...propertiesOf(other) };
  return {
    ...one,
    ...other,
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
  };
}

function resolveRef(ref: unknown, root: Schema): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#')) return undefined;
  const keys = ref.slice(1).split('/').slice(1);
  return keys.reduce<unknown>((node, key) => {
    const name = decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof node === 'object' && node !== null && Object.hasOwn(node, name) ? (node as Schema)[name] : undefined;
  }, root);
}

function typeOf(schema: Schema): string {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const type: unknown = types.find((one) => one !== 'null') ?? types[0];
  if (typeof type === 'string') return type;
  if (['properties', 'required', 'minProperties'].some((word) => word in schema)) return 'object';
  if (['items', 'prefixItems', 'minItems'].some((word) => word in schema)) return 'array';
  return ['minimum', 'maximum', 'multipleOf', 'exclusiveMinimum'].some((word) => word in schema) ? 'number' : 'string';
}

/** What is required; where nothing is, the texts, since a call without any argument says nothing. */
function toObject(schema: Schema, making: Making): Record<string, unknown> {
  const properties = propertiesOf(schema);
  const required = listOf(schema.required);
  const isHinted = making.hints.text !== '' && required.length === 0;
  const wanted = isHinted
    ? Object.keys(properties).filter((key) => isSchema(properties[key]) && typeOf(properties[key]) === 'string')
    : required;
  const keys = new Set(wanted);
  for (let n = 1; keys.size < numberOf(schema.minProperties, 0) && n < 100; n++)
    keys.add(Object.keys(properties).find((key) => !keys.has(key)) ?? `key${n}`);
  const schemaOf = (key: string): unknown =>
    Object.hasOwn(properties, key) ? properties[key] : schema.additionalProperties;
  return Object.fromEntries([...keys].map((key) => [key, toValue(schemaOf(key), making, key)]));
}

function toArray(schema: Schema, making: Making, key: string): unknown[] {
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const length = Math.min(Math.max(numberOf(schema.minItems, 0), 0), 100);
  return Array.from({ length }, (_, index) => {
    const item: unknown = first[index] ?? schema.items;
    const value = toValue(item, making, key);
    return schema.uniqueItems === true ? another(value, index, item) : value;
  });
}

/** The same again, told apart. */
function another(value: unknown, index: number, schema: unknown): unknown {
  const choices = isSchema(schema) && Array.isArray(schema.enum) ? schema.enum : [];
  if (index < choices.length) return choices[index];
  if (typeof value === 'number') return value + index;
  return typeof value === 'string' && index > 0 ? `${value}${index}` : value;
}

function toNumber(schema: Schema, endPersisted: boolean): number {
  const above = numberOf(schema.exclusiveMinimum, Number.NEGATIVE_INFINITY);
  const below = numberOf(schema.exclusiveMaximum, Number.POSITIVE_INFINITY);
  const least = Math.max(numberOf(schema.minimum, Number.NEGATIVE_INFINITY), endPersisted ? above + 1 : above);
  const most = Math.min(numberOf(schema.maximum, Number.POSITIVE_INFINITY), endPersisted ? below - 1 : below);
  const step = numberOf(schema.multipleOf, endPersisted ? 1 : 0);
  const near = Math.min(Math.max(1, least), most);
  const whole = step > 0 ? Math.ceil(near / step) * step : near;
  const value = whole > most && step > 0 ? Math.floor(most / step) * step : whole;
  return value === above || value === below ? between(value, above, below, step) : value;
}

/** Where the nearest number is one that is just not allowed. */
function between(value: number, above: number, below: number, step: number): number {
  if (step > 0) return value === above ? value + step : value - step;
  if (Number.isFinite(above) && Number.isFinite(below)) return (above + below) / 2;
  return value === above ? value + 1 : value - 1;
}

function fits(schema: Schema, value: unknown): boolean {
  try {
    const result = jsonSchema(schema)['~standard'].validate(value);
    return !(result instanceof Promise) && result.issues === undefined;
  } catch {
    return false;
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function propertiesOf(schema: Schema): Readonly<Record<string, unknown>> {
  return isSchema(schema.properties) ? schema.properties : {};
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
