import type { JSONSchema7, LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { wrapModel } from './wrap-model.ts';

type Tools = NonNullable<LanguageModelV4CallOptions['tools']>;

/**
 * Tools as models are sent them: without what only we check in an input. A model writes no better text for knowing that it has at most
 * 20,000 characters, and pays for the words in every request. If an input is invalid, the model is told why.
 *
 * What tells a model what to write stays: types, names, descriptions, enums, formats, examples, and bounds of numbers that someone chose.
 * Schemas stay whole for a strict tool, whose provider enforces them, and for the rehearsal, which makes inputs of them.
 */
export function sentTools(
  { tools }: Pick<LanguageModelV4CallOptions, 'tools'>,
  { provider }: Pick<LanguageModelV4, 'provider'>,
): Pick<LanguageModelV4CallOptions, 'tools'> {
  if (tools === undefined) return {};
  return { tools: provider === REHEARSAL ? tools : shortTools(tools) };
}

function shortTools(tools: Tools): Tools {
  const known = made.get(tools);
  if (known !== undefined) return known;
  const shown = tools.map((tool) =>
    tool.type === 'function' && tool.strict !== true
      ? { ...tool, inputSchema: schemaForModel(tool.inputSchema) }
      : tool,
  );
  made.set(tools, shown);
  return shown;
}

/** The same list in gives the same list out: providers and stored requests compare them. */
const made = new WeakMap<Tools, Tools>();

const REHEARSAL = 'lastcall.rehearsal';

/** A model that is sent its tools like this. Runs send theirs through guard-model.ts. */
export function withShortSchemas(model: LanguageModelV4): LanguageModelV4 {
  const toSend = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => ({
    ...options,
    ...sentTools(options, model),
  });
  return wrapModel(model, {
    doGenerate: (options) => model.doGenerate(toSend(options)),
    doStream: (options) => model.doStream(toSend(options)),
  });
}

/** The same schema in gives the same schema out: each run makes a new list of tools, whose schemas are those of the run before. */
export function schemaForModel(schema: JSONSchema7): JSONSchema7 {
  // Servers may declare `true`.
  if (!isObject(schema)) return schema;
  const known = shortened.get(schema) ?? (shorten(schema) as JSONSchema7);
  shortened.set(schema, known);
  return known;
}

const shortened = new WeakMap<JSONSchema7, JSONSchema7>();

function shorten(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([keyword, value]) => !isCheck(keyword, value));
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, shortenValue(keyword, value)]));
}

function isCheck(keyword: string, value: unknown): boolean {
  if (CHECKS.has(keyword)) return true;
  if (keyword === 'additionalProperties') return value === false;
  // A list of the names that are allowed tells a model what to write. A pattern or a length of names does not.
  if (keyword === 'propertyNames') return !namesValues(value);
  // The bounds of every whole number in JavaScript, which no one chose.
  return (keyword === 'minimum' || keyword === 'maximum') && Math.abs(Number(value)) >= Number.MAX_SAFE_INTEGER;
}

function namesValues(schema: unknown): boolean {
  return isObject(schema) && Object.keys(schema).some((keyword) => NAMES_VALUES.has(keyword));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const NAMES_VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref', 'description']);

const CHECKS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  'pattern',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
]);

/** The names of properties are no keywords, and what is inside `not` or `if` would mean something else without its checks. */
function shortenValue(keyword: string, value: unknown): unknown {
  if (NAMED.has(keyword) && typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shorten(one)]));
  if (!NESTED.has(keyword)) return value;
  return Array.isArray(value) ? value.map(shorten) : shorten(value);
}

const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
const NESTED: ReadonlySet<string> = new Set([
  'items',
  'prefixItems',
  'additionalItems',
  'additionalProperties',
  'propertyNames',
  'anyOf',
  'oneOf',
  'allOf',
]);
