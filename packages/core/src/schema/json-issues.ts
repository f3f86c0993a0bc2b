import type { OutputUnit } from '@cfworker/json-schema';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { formatPath } from './format-path.ts';
import type { Interpreter } from './interpreter.ts';
import { messageOf } from './json-message.ts';
import { decodeSegment } from './refs.ts';
import { holderOf, isSchemaObject } from './subschemas.ts';

/** A problem with its place as a list of keys. */
interface JsonIssue extends StandardSchemaV1.Issue {
  readonly path: readonly PropertyKey[];
  /** Perhaps only an echo: `unevaluatedProperties` also calls a key unknown whose value is wrong. */
  readonly isDoubtful?: boolean;
}

/** The interpreter's errors as a reader needs them: leaf problems, without the errors that only say that a part is wrong. */
export function readIssues(interpreter: Interpreter, value: unknown): readonly StandardSchemaV1.Issue[] {
  const issues = readErrors({ interpreter, value }, interpreter.errors(value));
  const byText = new Map(issues.map(({ path, message }) => [`${formatPath(path)}: ${message}`, { path, message }]));
  return [...byText.values()];
}

interface Reading {
  readonly interpreter: Interpreter;
  readonly value: unknown;
}

// They only repeat that something below them is wrong.
const PARENTS: ReadonlySet<string> = new Set(
  `$ref properties patternProperties additionalProperties unevaluatedProperties items prefixItems additionalItems
  unevaluatedItems propertyNames allOf if dependentSchemas`.split(/\s+/),
);

function readErrors(reading: Reading, errors: readonly OutputUnit[]): readonly JsonIssue[] {
  const issues: JsonIssue[] = [];
  for (let index = 0; index < errors.length; index++) {
    const error = errors[index] as OutputUnit;
    if (error.keyword === 'anyOf' || error.keyword === 'oneOf') {
      const below = takeBelow(error, errors, index + 1);
      issues.push(...readUnion(reading, error, below));
      index += below.length;
    } else if (!PARENTS.has(error.keyword)) issues.push(...readLeaf(reading, error));
  }
  const certain = issues.filter((issue) => issue.isDoubtful !== true);
  return certain.length > 0 ? certain : issues;
}

function takeBelow(parent: OutputUnit, errors: readonly OutputUnit[], from: number): readonly OutputUnit[] {
  const prefix = `${parent.keywordLocation}/`;
  const after = errors.slice(from);
  const end = after.findIndex((error) => !error.keywordLocation.startsWith(prefix));
  return end === -1 ? after : after.slice(0, end);
}

/** The problems of the alternative that was meant, where one can be told; otherwise what each of them lacks. */
function readUnion(reading: Reading, union: OutputUnit, errors: readonly OutputUnit[]): readonly JsonIssue[] {
  const { node } = locate(reading.interpreter.document, union.keywordLocation);
  const branches = node?.[union.keyword];
  const count = Array.isArray(branches) ? branches.length : 0;
  const path = pathOf(reading.value, union.instanceLocation);
  const groups = byBranch(union, errors);
  if (groups.length < count) {
    return [{ path, message: `fits ${count - groups.length} of ${count} alternatives; it must fit exactly one` }];
  }
  const meant = groups.filter((group) => !group.some((error) => tellsAlternativesApart(union, error)));
  if (meant.length === 1) return readErrors(reading, meant[0] ?? []);
  const reasons = groups.map((group, index) => `(${index + 1}) ${reasonText(readErrors(reading, group), path)}`);
  return [{ path, message: `fits none of ${count} alternatives: ${reasons.join('; ')}` }];
}

function byBranch(union: OutputUnit, errors: readonly OutputUnit[]): readonly (readonly OutputUnit[])[] {
  const groups = new Map<string, OutputUnit[]>();
  for (const error of errors) {
    const branch = branchOf(union, error);
    groups.set(branch, [...(groups.get(branch) ?? []), error]);
  }
  return [...groups.values()];
}

function branchOf(union: OutputUnit, error: OutputUnit): string {
  return error.keywordLocation.slice(union.keywordLocation.length + 1).split('/', 1)[0] ?? '';
}

/** A wrong type of the value itself, or a wrong constant in it or right below: another alternative was meant. */
function tellsAlternativesApart(union: OutputUnit, { keyword, instanceLocation }: OutputUnit): boolean {
  if (keyword === 'type') return instanceLocation === union.instanceLocation;
  if (keyword !== 'const' && keyword !== 'enum') return false;
  return !instanceLocation.slice(union.instanceLocation.length + 1).includes('/');
}

function reasonText(issues: readonly JsonIssue[], base: readonly PropertyKey[]): string {
  const texts = issues.map(({ path, message }) => {
    const below = formatPath(path.slice(base.length));
    return below === '' ? message : `${below}: ${message}`;
  });
  return texts.join(', ');
}

function readLeaf(reading: Reading, error: OutputUnit): readonly JsonIssue[] {
  const { node, through } = locate(reading.interpreter.document, error.keywordLocation);
  // That an item is not the one looked for is no problem; that none is, is reported by `contains` itself.
  if (through.includes('contains')) return [];
  const path = pathOf(reading.value, error.instanceLocation);
  if (through.includes('propertyNames')) {
    const [issue] = messageOf(error, node ?? {}, path.at(-1), through.at(-1));
    return [{ path, message: `the key itself is wrong: ${issue?.message ?? error.error}` }];
  }
  const issues = messageOf(error, node ?? {}, valueAt(reading.value, path), through.at(-1));
  const isDoubtful = error.keyword === 'not' && through.at(-1) === 'unevaluatedProperties';
  return issues.map(({ key, message }) => ({ path: key === undefined ? path : [...path, key], message, isDoubtful }));
}

interface Located {
  /** The schema that has the keyword. */
  readonly node: Record<string, unknown> | undefined;
  /** The keywords that led there. */
  readonly through: readonly string[];
}

/** Follows a keyword's location, which goes through references. */
function locate(document: object, location: string): Located {
  const through: string[] = [];
  let node: unknown = document;
  const segments = location.split('/').slice(1, -1).map(decodeSegment);
  for (let index = 0; index < segments.length; index++) {
    const keyword = segments[index] as string;
    const held: unknown = isSchemaObject(node) ? node[keyword] : undefined;
    through.push(keyword);
    if (keyword === '$ref') node = definitionOf(document, held);
    else if (Array.isArray(held) || holderOf(keyword) === 'map')
      node = (held as Record<string, unknown>)[segments[++index] as string];
    else node = held;
  }
  return { node: isSchemaObject(node) ? node : undefined, through };
}

function definitionOf(document: object, ref: unknown): unknown {
  const name = String(ref).split('/')[2];
  return name === undefined ? document : (document as { $defs: Record<string, unknown> }).$defs[name];
}

/** The keys of a location; an index is a number where an array has it. */
function pathOf(value: unknown, location: string): readonly PropertyKey[] {
  let place = value;
  return location
    .split('/')
    .slice(1)
    .map((segment) => {
      const key = decodeSegment(segment) ?? segment;
      const isIndex = Array.isArray(place);
      place = valueAt(place, [key]);
      return isIndex ? Number(key) : key;
    });
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let place = value;
  for (const key of path) {
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return undefined;
    place = (place as Record<PropertyKey, unknown>)[key];
  }
  return place;
}
