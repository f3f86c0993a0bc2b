import { jsonSchema, type JsonSchemaObject as Schema } from '@lastcall/core';
import { plainWords, wordsOf } from './match-tool.ts';

/**
 * The text of the request, the tool that carries it out, and the time in milliseconds since the epoch, from which dates are made.
 */
export interface Request {
  readonly text: string;
  readonly toolName?: string;
  readonly now: number;
}

/** An input that fits the schema: words of the text where they fit, otherwise the simplest valid value. */
export function exampleInput(schema: unknown, request: Request): Record<string, unknown> {
  const root = isSchema(schema) ? schema : {};
  const value = toValue(root, { request, root, key: '', depth: 0, parts: { left: MOST_PARTS } });
  return isSchema(value) ? { ...value } : {};
}

interface Field {
  readonly request: Request;
  readonly root: Schema;
  readonly key: string;
  readonly depth: number;
  /** Counts down the parts of the schema that may still be read. */
  readonly parts: { left: number };
}

// A recursive schema never ends, and no real tool input is this deep.
const DEEPEST = 12;
// The number of parts of a schema may double with each level. Parts above this limit are not read.
const MOST_PARTS = 500;

function toValue(given: unknown, { depth, ...field }: Field): unknown {
  if (!isSchema(given) || depth > DEEPEST || field.parts.left-- <= 0) return 'example';
  const inner = { ...field, depth: depth + 1 };
  const schema = flatten(given, field);
  const { type, properties, items, minItems } = schema;
  const isFixed = 'const' in schema || 'enum' in schema;
  if (!isFixed && (type === 'object' || isSchema(properties))) return toObject(schema, inner);
  if (!isFixed && (type === 'array' || isSchema(items)))
    return Array.from({ length: Math.min(numberOf(minItems, 0), 100) }, () => toValue(items, inner));
  const candidates = toCandidates(schema, inner);
  return [...candidates.filter(toTest(schema)), candidates[0]][0];
}

/** The required properties and those that the text names. If there are none, all properties, so that the call has arguments. */
function toObject({ properties, required }: Schema, field: Field): Record<string, unknown> {
  const known = isSchema(properties) ? properties : {};
  const isNamed = (key: string): boolean => namedIn(field.request.text, key, known[key]).length > 0;
  const wanted = [...listOf(required).map(String), ...Object.keys(known).filter(isNamed)];
  const keys = wanted.length > 0 || field.depth > 1 ? wanted : Object.keys(known);
  return Object.fromEntries(keys.map((key) => [key, toValue(known[key], { ...field, key })]));
}

/** Values that the text names come first, then those that the schema names, then defaults. */
function toCandidates(schema: Schema, { key, request }: Field): readonly unknown[] {
  const own = [schema.default, ...listOf(schema.examples), schema.const, ...listOf(schema.enum)];
  const words = wordsFor(key, request);
  const cut = [...words.slice(0, 1), ...plainTexts(request.now)].map((word) => fitLength(word, schema));
  const given = own.filter((one) => one !== undefined);
  return [...namedIn(request.text, key, schema), ...given, ...words, ...cut, true, ...toNumbers(schema), null];
}

/** The values that the text gives for a field: a choice that the field offers, or the words next to its name. */
function namedIn(text: string, key: string, schema: unknown): readonly unknown[] {
  const said = text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  const choices = isSchema(schema) ? listOf(schema.enum) : [];
  const chosen = choices.filter((choice) => typeof choice === 'string' && said.includes(choice.toLowerCase()));
  return [...chosen, ...wordsBeside(key, text).flatMap((word) => [word, Number(word)])];
}

/** Everything in the text that can be the value of a text field, best first. A field for prose gets the whole sentence. */
function wordsFor(key: string, { text, toolName = '' }: Request): readonly string[] {
  if (TITLE.test(key)) return [text.split('\n', 1)[0] ?? ''];
  if (PROSE.test(key)) return [text];
  const all = (pattern: string): string[] =>
    [...text.matchAll(new RegExp(pattern, 'gu'))].map((match) => match[1] ?? match[0]);
  const known = new Set(wordsOf(toolName));
  return [
    ...wordsBeside(key, text),
    ...(PLACE.test(key) ? all(String.raw`\b(?:in|at|to|for|near|from|of) (${NAME})`) : []),
    ...all('"([^"]+)"'),
    // The first word of a sentence is always capitalised.
    ...all(String.raw`(?<!(?:^|[.!?])\W*)\b${NAME}`),
    ...all(String.raw`[\w-]*\d[\w-]*`),
    ...plainWords(text).filter((word) => wordsOf(word).some((stem) => !known.has(stem))),
  ];
}

/** The words next to the field's own name: "3 nights", "city: Rome", "to Oslo". */
function wordsBeside(key: string, text: string): readonly string[] {
  return plainWords(key).flatMap((word) => {
    const field = String.raw`\b(?i:${word.replace(/(?<=...)s$/, '')})s?\b`;
    const before = String.raw`(\d+(?:\.\d+)?) ${field}`;
    const after = String.raw`${field}(?: is|:| =)? (?:"([^"]+)"|(${NAME}|[\w.-]*\d[\w.-]*\b))`;
    return [before, after].flatMap((pattern) => new RegExp(pattern, 'u').exec(text)?.slice(1) ?? []).filter(Boolean);
  });
}

const NAME = String.raw`\p{Lu}\p{L}[\p{L}'’-]*(?: \p{Lu}\p{L}[\p{L}'’-]*)*`;
const TITLE = /title|subject|headline/i;
const PROSE = /message|text|question|query|prompt|body|content|note|comment|description|reason|instruction|summary/i;
const PLACE = /city|town|location|place|destination|where|region|country|address/i;

function plainTexts(now: number): readonly string[] {
  const iso = new Date(now).toISOString();
  const formats = ['PT1H', 'someone@example.com', '192.0.2.1', '2001:db8::1', 'https://example.com/'];
  const codes = ['example', 'EXAMPLE', '1', '12345', 'a1', 'A-1', '+15550100', '#aabbcc', '1.0.0'];
  return [...codes, iso.slice(0, 10), iso, iso.slice(11), ...formats, '00000000-0000-4000-8000-000000000000', ''];
}

/** 1, then the multiples next to the bounds, then values between the bounds. */
function toNumbers({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: Schema): readonly number[] {
  const step = numberOf(multipleOf, 1);
  const bounds = [minimum, exclusiveMinimum, maximum, exclusiveMaximum].filter((one) => typeof one === 'number');
  const near = bounds.map((bound) => Math.round(bound / step) * step).flatMap((one) => [one, one + step, one - step]);
  return [1, step, ...bounds, ...near, bounds.reduce((sum, one) => sum + one, 0) / bounds.length, 0];
}

function fitLength(text: string, { minLength, maxLength }: Schema): string {
  const cut = [...text].slice(0, numberOf(maxLength, Infinity));
  return cut.join('') + 'x'.repeat(Math.max(0, Math.min(numberOf(minLength, 0), 10_000) - cut.length));
}

/** The schema with its references followed, the parts of `allOf` joined, and the first of its alternatives taken. */
function flatten(schema: Schema, { root, parts: count }: Pick<Field, 'root' | 'parts'>, depth: number = 0): Schema {
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  // "Or null" is written as an alternative, so the other alternative is taken.
  const alternatives = [anyOf, oneOf].map((list) => listOf(list).find((one) => !isNull(one)) ?? listOf(list)[0]);
  const parts = [resolveRef($ref, root), ...listOf(allOf), ...alternatives];
  return depth > DEEPEST || count.left-- <= 0
    ? own
    : parts
        .filter(isSchema)
        .map((part) => flatten(part, { root, parts: count }, depth + 1))
        .reduce(join, own);
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
    const { validate } = jsonSchema(schema, { origin: 'data' })['~standard'];
    const pattern = typeof schema.pattern === 'string' ? new RegExp(schema.pattern, 'u') : undefined;
    // Schemas that came as data have no patterns here. This pattern was written in code.
    const matches = (value: unknown): boolean => typeof value !== 'string' || pattern?.test(value) !== false;
    return (value) => 'value' in validate(value) && matches(value);
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
