import { jsonSchema, type JsonSchemaObject as Schema } from '@lastcall/core';
import { type Request, wordsBeside, wordsFor } from './argument-words.ts';

/** An input that fits the schema: with words of the text where they fit, and otherwise the plainest there is. */
export function exampleInput(schema: unknown, request: Request & { now: number }): Record<string, unknown> {
  const root = isSchema(schema) ? schema : {};
  const value = toValue(root, { ...request, root, depth: 0 }, '');
  return isSchema(value) ? { ...value } : {};
}

interface Making extends Request {
  /** Milliseconds since the epoch: dates are made of it. */
  readonly now: number;
  readonly root: Schema;
  readonly depth: number;
}

// A schema that contains itself never ends; nothing that a model is asked for is so deep.
const DEEPEST = 12;

function toValue(given: unknown, outer: Making, key: string): unknown {
  if (!isSchema(given) || outer.depth > DEEPEST) return 'example';
  const making = { ...outer, depth: outer.depth + 1 };
  const schema = flatten(given, making.root);
  const isFixed = 'const' in schema || 'enum' in schema;
  if (!isFixed && (schema.type === 'object' || isSchema(schema.properties))) return toObject(schema, making);
  if (!isFixed && (schema.type === 'array' || isSchema(schema.items))) return toArray(schema, making, key);
  const candidates = toCandidates(schema, making, key);
  return [...candidates.filter(toTest(schema)), candidates[0]][0];
}

/** What the text names comes first, then what the schema names, then what is like anything. */
function toCandidates(schema: Schema, making: Making, key: string): readonly unknown[] {
  const own = [schema.default, ...listOf(schema.examples), schema.const, ...listOf(schema.enum)];
  const words = wordsFor(key, making);
  const cut = [...words.slice(0, 1), ...plainTexts(making.now)].map((word) => fitLength(word, schema));
  const given = own.filter((one) => one !== undefined);
  return [...namedIn(schema, making, key), ...given, ...words, ...cut, true, ...toNumbers(schema), null];
}

/** What the text says of a field: a choice that it offers, or what stands beside its name. */
function namedIn(schema: unknown, making: Making, key: string): readonly unknown[] {
  const said = making.text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  const choices = isSchema(schema) ? listOf(schema.enum) : [];
  const chosen = choices.filter((choice) => typeof choice === 'string' && said.includes(choice.toLowerCase()));
  return [...chosen, ...wordsBeside(key, making).flatMap((word) => [word, Number(word)])];
}

function plainTexts(now: number): readonly string[] {
  const iso = new Date(now).toISOString();
  const formats = ['PT1H', 'someone@example.com', '192.0.2.1', '2001:db8::1', 'https://example.com/'];
  const codes = ['example', 'EXAMPLE', '1', '12345', 'a1', 'A-1', '+15550100', '#aabbcc', '1.0.0'];
  return [...codes, iso.slice(0, 10), iso, iso.slice(11), ...formats, '00000000-0000-4000-8000-000000000000', ''];
}

/** 1, and otherwise what is next to the bounds. */
function toNumbers({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: Schema): readonly number[] {
  const step = numberOf(multipleOf, 1);
  const low = Math.max(numberOf(minimum, -Infinity), numberOf(exclusiveMinimum, -Infinity));
  const high = Math.min(numberOf(maximum, Infinity), numberOf(exclusiveMaximum, Infinity));
  const [up, down] = [Math.ceil(low / step) * step, Math.floor(high / step) * step];
  return [1, step, low, up, up + step, high, down, down - step, (low + high) / 2, 0].filter(Number.isFinite);
}

function fitLength(text: string, { minLength, maxLength }: Schema): string {
  const characters = [...text].slice(0, numberOf(maxLength, Infinity));
  return characters.join('') + 'x'.repeat(Math.max(0, Math.min(numberOf(minLength, 0), 10_000) - characters.length));
}

/** What is required, and what the text names; where that is nothing, all: a call without an argument says nothing. */
function toObject(schema: Schema, making: Making): Record<string, unknown> {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const named = Object.keys(properties).filter((key) => namedIn(properties[key], making, key).length > 0);
  const wanted = [...listOf(schema.required).map(String), ...named];
  const keys = new Set(wanted.length > 0 || making.depth > 1 ? wanted : Object.keys(properties));
  return Object.fromEntries([...keys].map((key) => [key, toValue(properties[key], making, key)]));
}

function toArray({ items, minItems }: Schema, making: Making, key: string): unknown[] {
  return Array.from({ length: Math.min(numberOf(minItems, 0), 100) }, () => toValue(items, making, key));
}

/** The schema with its references followed, the parts of `allOf` joined, and the first of its alternatives taken. */
function flatten(schema: Schema, root: Schema, depth: number = 0): Schema {
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  // "Or null" is written as an alternative: the other one says more.
  const alternatives = [anyOf, oneOf].map((list) => listOf(list).toSorted((one) => (isNull(one) ? 1 : -1))[0]);
  const parts = [resolveRef($ref, root), ...listOf(allOf), ...alternatives].filter(isSchema);
  return depth > DEEPEST ? own : parts.map((part) => flatten(part, root, depth + 1)).reduce(join, own);
}

function join(one: Schema, other: Schema): Schema {
  const properties = { ...(one.properties as object | undefined), ...(other.properties as object | undefined) };
  const required = [...listOf(one.required), ...listOf(other.required)];
  return { ...one, ...other, ...('properties' in { ...one, ...other } ? { properties, required } : {}) };
}

function resolveRef(ref: unknown, root: Schema): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#')) return undefined;
  const names = ref.split('/').slice(1);
  return names.reduce<unknown>((node, name) => (isSchema(node) ? node[decodeURIComponent(name)] : undefined), root);
}

function toTest(schema: Schema): (value: unknown) => boolean {
  try {
    const { validate } = jsonSchema(schema)['~standard'];
    return (value) => 'value' in validate(value);
  } catch {
    return () => true;
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNull(value: unknown): boolean {
  return isSchema(value) && value.type === 'null';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
