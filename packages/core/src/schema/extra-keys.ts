import { createRun, keysIn, type Run } from './check.ts';
import { formatPath, takePath } from './format-path.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import { createKnownNames, patternsOf } from './known-names.ts';
import { openDocument, type SchemaDocument } from './schema-document.ts';
import type { Problem } from './schema-result.ts';
import { showJson } from './show-json.ts';
import { PROBLEM_STEPS } from './steps.ts';
import { isSchemaObject, listOf, mapOf } from './subschemas.ts';
import { createUnionChoice, type UnionChoice } from './union-choice.ts';

/** A key that no schema knows at its place. */
export interface ExtraKey {
  readonly path: readonly PropertyKey[];
  /** The keys that are known there. */
  readonly known: readonly string[];
}

export type FindExtraKeys = (value: unknown, run?: Run) => readonly ExtraKey[];

/** Every key, at any depth, that a closed level of the schema does not know. */
export function compileExtraKeys(closed: JsonSchemaObject): (value: unknown) => Problem[] {
  const find = compileExtraKeyFinder(openDocument(closed));
  return (value) =>
    find(value).map((extra) => ({ path: formatPath(extra.path), message: describeExtraKey(extra).message }));
}

const NONE: readonly ExtraKey[] = Object.freeze([]);

/**
 * Compiles a finder of extra keys. It runs on every call, so a plain object costs no more than a loop over its keys.
 */
export function compileExtraKeyFinder(document: SchemaDocument): FindExtraKeys {
  const visit = createVisitors(document)(document.root);
  if (visit === undefined) return () => NONE;
  return (value, run = createRun()) => {
    const trail: Trail = { run, keys: [], found: undefined };
    visit(value, trail);
    return trail.found === undefined ? NONE : [...trail.found.values()].flatMap((byKey) => [...byKey.values()]);
  };
}

const MOST_NAMES_SHOWN = 40;
/** The cost of showing one name: its first characters are escaped and copied. */
const SHOWING_STEPS = 2;

export function describeExtraKey({ path, known }: ExtraKey): { path: readonly PropertyKey[]; message: string } {
  const names = known.slice(0, MOST_NAMES_SHOWN).map(showJson);
  const rest = known.length > names.length ? ` and ${known.length - names.length} more` : '';
  return {
    path,
    message:
      known.length === 0
        ? 'unknown key; no keys are known here'
        : `unknown key; known here: ${names.join(', ')}${rest}`,
  };
}

/** The current position, and the findings so far, by object and key: two schemas may refuse the same key. */
interface Trail {
  readonly run: Run;
  readonly keys: PropertyKey[];
  found: Map<object, Map<string, ExtraKey>> | undefined;
}

type Visit = (value: unknown, trail: Trail) => void;

/** A closure for each schema that can refuse a key, undefined for the others. */
function createVisitors(document: SchemaDocument): VisitOf {
  const visits = new Map<JsonSchemaObject, Visit | undefined>();
  const choice = createUnionChoice(document, (node, value, run) => {
    const trail: Trail = { run, keys: [], found: undefined };
    visitOf(node)?.(value, trail);
    return [...(trail.found?.values() ?? [])].reduce((sum, byKey) => sum + byKey.size, 0);
  });
  const knownNames = createKnownNames(document, choice);

  function visitOf(node: unknown): Visit | undefined {
    if (!isSchemaObject(node)) return undefined;
    if (!visits.has(node)) visits.set(node, compile(node));
    return visits.get(node);
  }

  function compile(node: JsonSchemaObject): Visit | undefined {
    if (typeof node.$ref === 'string' && document.isOnlyRefRead) return visitRef(node, document, visitOf);
    return sequence([
      visitLevel(node, document, knownNames),
      visitProperties(node, document, visitOf),
      visitItems(node, visitOf),
      typeof node.$ref === 'string' ? visitRef(node, document, visitOf) : undefined,
      ...listOf(node.allOf).map(visitOf),
      visitUnion(listOf(node.anyOf), visitOf, choice),
      visitUnion(listOf(node.oneOf), visitOf, choice),
      visitConditions(node, visitOf, choice),
    ]);
  }

  return visitOf;
}

type VisitOf = (node: unknown) => Visit | undefined;

function sequence(parts: readonly (Visit | undefined)[]): Visit | undefined {
  const visits = parts.filter((part) => part !== undefined);
  if (visits.length === 0) return undefined;
  return (value, trail) => {
    trail.run.steps.take(visits.length);
    for (const visit of visits) visit(value, trail);
  };
}

/** Created when it first runs, because schemas are recursive. */
function visitRef(node: JsonSchemaObject, document: SchemaDocument, visitOf: VisitOf): Visit {
  let target: Visit | undefined;
  let isMade = false;
  return (value, trail) => {
    if (!isMade) target = visitOf(document.resolve(node));
    isMade = true;
    trail.run.steps.take();
    target?.(value, trail);
  };
}

/** Checks the keys of the object itself, not of the values in it. */
function visitLevel(
  node: JsonSchemaObject,
  document: SchemaDocument,
  knownNames: ReturnType<typeof createKnownNames>,
): Visit | undefined {
  if (document.hasHiddenNames(node)) return undefined;
  if (node.additionalProperties === false) return visitClosed(node, document);
  if (node.additionalProperties !== undefined || node.unevaluatedProperties !== false) return undefined;
  const collectNames = knownNames(node);
  return (value, trail) => {
    if (!isObject(value)) return;
    const known = new Set<string>();
    collectNames(value, known, trail.run);
    reportUnknown(value, trail, [...known], (key) => known.has(key));
  };
}

function visitClosed(node: JsonSchemaObject, document: SchemaDocument): Visit {
  const known = new Set(mapOf(node.properties).map(([key]) => key));
  const names = [...known];
  const patterns = patternsOf(node, document);
  return (value, trail) => {
    if (!isObject(value)) return;
    reportUnknown(value, trail, names, (key) => known.has(key) || patterns.some((pattern) => pattern.test(key)));
  };
}

function reportUnknown(
  value: Record<string, unknown>,
  trail: Trail,
  names: readonly string[],
  isKnown: (key: string) => boolean,
): void {
  const keys = keysIn(value, trail.run);
  trail.run.steps.take(keys.length);
  for (const key of keys) if (!isKnown(key) && value[key] !== undefined) report(trail, value, key, names);
}

function visitProperties(node: JsonSchemaObject, document: SchemaDocument, visitOf: VisitOf): Visit | undefined {
  const declared = new Set(mapOf(node.properties).map(([key]) => key));
  const own = mapOf(node.properties).flatMap(([key, sub]) => entryIf(key, visitOf(sub)));
  const byPattern = mapOf(node.patternProperties).flatMap(([source, sub]) => {
    const pattern = document.pattern(source);
    return pattern === undefined ? [] : entryIf(pattern, visitOf(sub));
  });
  const others = document.hasHiddenNames(node) ? undefined : visitOf(node.additionalProperties);
  const patterns = patternsOf(node, document);
  if (own.length + byPattern.length === 0 && others === undefined) return undefined;
  return (value, trail) => {
    if (!isObject(value)) return;
    trail.run.steps.take(own.length);
    for (const [key, visit] of own) if (Object.hasOwn(value, key)) visitAt(key, value[key], trail, visit);
    if (byPattern.length === 0 && others === undefined) return;
    const keys = keysIn(value, trail.run);
    trail.run.steps.take(keys.length);
    for (const key of keys) {
      for (const [pattern, visit] of byPattern) if (pattern.test(key)) visitAt(key, value[key], trail, visit);
      const isOther = others !== undefined && !declared.has(key) && !patterns.some((pattern) => pattern.test(key));
      if (isOther) visitAt(key, value[key], trail, others);
    }
  };
}

function entryIf<K>(key: K, visit: Visit | undefined): (readonly [K, Visit])[] {
  return visit === undefined ? [] : [[key, visit]];
}

function visitItems(node: JsonSchemaObject, visitOf: VisitOf): Visit | undefined {
  const first = listOf(Array.isArray(node.items) ? node.items : node.prefixItems).map(visitOf);
  const rest = visitOf(Array.isArray(node.items) ? node.additionalItems : node.items);
  if (rest === undefined && first.every((visit) => visit === undefined)) return undefined;
  return (value, trail) => {
    if (!Array.isArray(value)) return;
    trail.run.steps.take(value.length);
    for (let index = 0; index < value.length; index++) {
      const visit = index < first.length ? first[index] : rest;
      if (visit !== undefined) visitAt(index, value[index], trail, visit);
    }
  };
}

function visitUnion(branches: readonly JsonSchemaNode[], visitOf: VisitOf, choice: UnionChoice): Visit | undefined {
  if (branches.every((branch) => visitOf(branch) === undefined)) return undefined;
  return (value, trail) => {
    for (const branch of choice.branchesFor(branches, value, trail.run)) visitOf(branch)?.(value, trail);
  };
}

function visitConditions(node: JsonSchemaObject, visitOf: VisitOf, choice: UnionChoice): Visit | undefined {
  const dependent = mapOf(node.dependentSchemas).flatMap(([key, sub]) => entryIf(key, visitOf(sub)));
  const condition = node.if as JsonSchemaNode | undefined;
  const [whenTrue, whenFalse] = condition === undefined ? [] : [visitOf(node.then), visitOf(node.else)];
  if (dependent.length === 0 && whenTrue === undefined && whenFalse === undefined) return undefined;
  return (value, trail) => {
    if (typeof value !== 'object' || value === null) return;
    trail.run.steps.take(dependent.length);
    for (const [key, visit] of dependent) if (Object.hasOwn(value, key)) visit(value, trail);
    if (condition !== undefined) (choice.fits(condition, value, trail.run) ? whenTrue : whenFalse)?.(value, trail);
  };
}

function visitAt(key: PropertyKey, value: unknown, trail: Trail, visit: Visit): void {
  trail.keys.push(key);
  visit(value, trail);
  trail.keys.pop();
}

function report(trail: Trail, object: object, key: string, known: readonly string[]): void {
  const path = [...trail.keys, key];
  takePath(path, trail.run.steps);
  trail.run.steps.take(PROBLEM_STEPS + SHOWING_STEPS * Math.min(known.length, MOST_NAMES_SHOWN));
  trail.found ??= new Map();
  const byKey = trail.found.get(object) ?? new Map<string, ExtraKey>();
  trail.found.set(object, byKey.set(key, { path, known }));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
