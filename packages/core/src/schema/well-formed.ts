import { SchemaError } from '../errors.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import type { ResolveRef } from './refs.ts';
import type { SchemaDocument } from './schema-document.ts';
import { showJson } from './show-json.ts';
import { holderOf, isSchemaNode, isSchemaObject, mapOf } from './subschemas.ts';
import { unicodePattern } from './unicode-pattern.ts';

/**
 * Throws a SchemaError that names the place, so that a mistake shows when the tool is defined and not in its first
 * call.
 */
export function assertWellFormed({ root, resolve, origin }: SchemaDocument): void {
  const state = new Map<object, 'open' | 'done'>();
  const findCircle = createCircleFinder(resolve, origin === 'data' ? MOST_IN_PLACE : Number.POSITIVE_INFINITY);
  // A list instead of recursion: references may lead from each definition to the next one.
  const waiting: [node: JsonSchemaNode, place: string][] = [[root, '#']];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) check(...next);

  function check(node: unknown, place: string): void {
    if (typeof node === 'boolean') return;
    if (!isSchemaObject(node)) throw notASchemaNode(node, place);
    if (state.get(node) === 'done') return;
    if (state.get(node) === 'open') refuse(place, 'the schema object contains itself; use $ref for recursion');
    state.set(node, 'open');
    checkKeywords(node, place);
    if (origin === 'data') checkAddresses(node, place);
    if (typeof node.pattern === 'string') checkPattern(node.pattern, place);
    for (const [keyword, value] of Object.entries(node)) checkHolder(keyword, value, `${place}/${keyword}`);
    state.set(node, 'done');
    checkRef(node, place);
  }

  function checkHolder(keyword: string, value: unknown, place: string): void {
    const holder = holderOf(keyword);
    if (holder === undefined) return;
    if (holder === 'list' || (holder === 'one-or-list' && Array.isArray(value))) {
      if (!Array.isArray(value) || (value.length === 0 && keyword.endsWith('Of')))
        refuse(place, 'expected a list of schemas');
      for (const [index, sub] of value.entries()) check(sub, `${place}/${index}`);
    } else if (holder === 'map') {
      if (!isSchemaObject(value)) refuse(place, `expected an object of schemas, got ${kindOf(value)}`);
      for (const [key, sub] of Object.entries(value)) {
        if (keyword === 'patternProperties') checkPattern(key, place);
        if (keyword !== 'dependencies' || !isTexts(sub)) check(sub, `${place}/${key}`);
      }
    } else check(value, place);
  }

  function checkRef(node: JsonSchemaObject, place: string): void {
    if (node.$ref === undefined) return;
    const target = resolve(node);
    if (target === undefined)
      refuse(place, `$ref ${showJson(node.$ref)} leads nowhere; only references inside the schema are followed`);
    if (isSchemaObject(target) && !state.has(target)) waiting.push([target, String(node.$ref)]);
    const circle = findCircle(node);
    if (circle !== undefined)
      refuse(place, `$ref ${showJson(circle)} leads back to itself without going into the value`);
  }

  /** A pattern that is not run need not be valid. */
  function checkPattern(pattern: string, place: string): void {
    if (origin === 'code' && unicodePattern(pattern) === undefined)
      refuse(place, `${showJson(pattern)} is not a regular expression`);
  }
}

/** A type may be listed only once; otherwise the list could be arbitrarily long. */
function areDifferentTypes(types: readonly unknown[]): boolean {
  return types.every((one) => TYPES.includes(one)) && new Set(types).size === types.length;
}

type KeywordCheck = readonly [keywords: readonly string[], isRight: (value: unknown) => boolean, expected: string];

const TYPES: readonly unknown[] = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const TYPE_NAMES = `one of ${TYPES.join(', ')}, or a list of them, each once`;

const KEYWORDS: readonly KeywordCheck[] = [
  [
    ['type'],
    (value) => TYPES.includes(value) || (Array.isArray(value) && value.length > 0 && areDifferentTypes(value)),
    TYPE_NAMES,
  ],
  [['required'], isTexts, 'a list of property names'],
  [['enum'], Array.isArray, 'a list of values'],
  [['pattern', '$ref', 'format'], (value) => typeof value === 'string', 'a text'],
  [['minimum', 'maximum'], Number.isFinite, 'a number'],
  [
    ['exclusiveMinimum', 'exclusiveMaximum'],
    (value) => Number.isFinite(value) || typeof value === 'boolean',
    'a number',
  ],
  [['multipleOf'], (value) => Number.isFinite(value) && (value as number) > 0, 'a number above 0'],
  [
    ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'minContains', 'maxContains'],
    (value) => Number.isInteger(value) && (value as number) >= 0,
    'a whole number, 0 or more',
  ],
  [
    ['dependentRequired'],
    (value) => isSchemaObject(value) && Object.values(value).every(isTexts),
    'an object of lists of property names',
  ],
  [['$dynamicRef', '$recursiveRef'], () => false, 'nothing: it is not supported; use $ref'],
];

function checkKeywords(node: JsonSchemaObject, place: string): void {
  for (const [keywords, isRight, expected] of KEYWORDS) {
    for (const keyword of keywords) {
      if (!Object.hasOwn(node, keyword) || isRight(node[keyword])) continue;
      refuse(place, `"${keyword}" must be ${expected}, not ${showJson(node[keyword])}`);
    }
  }
}

const ADDRESSES: readonly string[] = ['$schema', '$id', '$anchor', '$ref'];
/** The longest address in a schema that is data. Each is resolved against the addresses around it. */
const LONGEST_ADDRESS = 500;

function checkAddresses(node: JsonSchemaObject, place: string): void {
  for (const keyword of ADDRESSES) {
    const address = node[keyword];
    if (typeof address === 'string' && address.length > LONGEST_ADDRESS)
      refuse(
        place,
        `"${keyword}" has ${address.length} characters; the maximum is ${LONGEST_ADDRESS}. Use a shorter one`,
      );
  }
}

/**
 * The longest chain of schemas that apply to one value, each through another. Code that follows them recurses for each.
 */
const MOST_IN_PLACE = 100;

/**
 * Finds the reference that closes a circle. It follows only schemas that apply to the same value: such a circle would
 * never end, for any interpreter. No schema is visited twice, however many references there are. Throws a SchemaError
 * if a chain is longer than `most`.
 */
function createCircleFinder(resolve: ResolveRef, most: number): (start: JsonSchemaNode) => string | undefined {
  /** The length of the chain that starts at each schema. */
  const lengths = new Map<JsonSchemaNode, number>();
  const open = new Set<JsonSchemaNode>();
  return function find(node): string | undefined {
    if (!isSchemaObject(node) || lengths.has(node)) return undefined;
    if (open.has(node)) return refIn([...open].slice([...open].indexOf(node)));
    if (open.size >= most) throw tooManyInPlace(node, most);
    open.add(node);
    let length = 1;
    for (const next of inPlace(node, resolve)) {
      const circle = find(next);
      if (circle !== undefined) return circle;
      length = Math.max(length, 1 + (lengths.get(next) ?? 0));
    }
    if (length > most) throw tooManyInPlace(node, most);
    open.delete(node);
    lengths.set(node, length);
    return undefined;
  };
}

function tooManyInPlace({ $ref }: JsonSchemaObject, most: number): SchemaError {
  const place = $ref === undefined ? '' : ` at $ref ${showJson($ref)}`;
  return new SchemaError(
    `The JSON Schema has a chain of more than ${most} schemas${place}: each applies to the same value by way of the one before. Refer to the last one directly.`,
  );
}

function refIn(circle: readonly JsonSchemaNode[]): string {
  const refs = circle.map((node) => (isSchemaObject(node) ? node.$ref : undefined));
  return String(refs.find((ref) => ref !== undefined) ?? '#');
}

function inPlace(node: JsonSchemaObject, resolve: ResolveRef): JsonSchemaNode[] {
  const lists = [node.allOf, node.anyOf, node.oneOf].filter((list) => Array.isArray(list)).flat();
  const dependent = [...mapOf(node.dependentSchemas), ...mapOf(node.dependencies)].map(([, sub]) => sub);
  return [...lists, ...dependent, node.not, node.if, node.then, node.else, resolve(node)].filter(isSchemaNode);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

/** The error for something that is no schema at all. */
export function notASchemaNode(value: unknown, place: string = '#'): SchemaError {
  return problemAt(place, `expected a schema (an object, true or false), got ${kindOf(value)}`);
}

function refuse(place: string, problem: string): never {
  throw problemAt(place, problem);
}

function problemAt(place: string, problem: string): SchemaError {
  return new SchemaError(`JSON Schema at ${place}: ${problem}.`);
}
