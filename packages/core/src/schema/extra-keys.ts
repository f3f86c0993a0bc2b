import { draftOf, refHidesSiblings } from './draft.ts';
import { formatPath } from './format-path.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import { compileKnownNames, patternsOf } from './known-names.ts';
import { createRefResolver, type ResolveRef } from './refs.ts';
import type { Problem } from './schema-result.ts';
import { isSchemaObject, listOf, mapOf } from './subschemas.ts';
import { unicodePattern } from './unicode-pattern.ts';
import { createUnionChoice, type UnionChoice } from './union-choice.ts';

/** A key that no schema knows at its place. */
export interface ExtraKey {
  readonly path: readonly PropertyKey[];
  /** The keys that are known there. */
  readonly known: readonly string[];
}

export type FindExtraKeys = (value: unknown) => readonly ExtraKey[];

/** Every key, at any depth, that a closed level of the schema does not know. */
export function compileExtraKeys(closed: JsonSchemaObject): (value: unknown) => Problem[] {
  const find = compileExtraKeyFinder(closed);
  return (value) =>
    find(value).map((extra) => ({ path: formatPath(extra.path), message: describeExtraKey(extra).message }));
}

const NONE: readonly ExtraKey[] = Object.freeze([]);

/** Compiles a finder of extra keys. It runs on every call, so a plain object costs no more than a loop over its keys. */
export function compileExtraKeyFinder(schema: JsonSchemaNode): FindExtraKeys {
  const visit = createVisitors(schema)(schema);
  if (visit === undefined) return () => NONE;
  return (value) => {
    const trail: Trail = { keys: [], found: undefined };
    visit(value, trail);
    return trail.found === undefined ? NONE : [...trail.found.values()];
  };
}

const MOST_NAMES_SHOWN = 40;

export function describeExtraKey({ path, known }: ExtraKey): { path: readonly PropertyKey[]; message: string } {
  const names = known.slice(0, MOST_NAMES_SHOWN).map((name) => JSON.stringify(name));
  const rest = known.length > names.length ? ` and ${known.length - names.length} more` : '';
  return {
    path,
    message:
      known.length === 0
        ? 'unknown key; no keys are known here'
        : `unknown key; known here: ${names.join(', ')}${rest}`,
  };
}

/** Where the walk is, and what it has found, by path: two schemas may refuse the same key. */
interface Trail {
  readonly keys: PropertyKey[];
  found: Map<string, ExtraKey> | undefined;
}

type Visit = (value: unknown, trail: Trail) => void;

/** A closure for each schema that can refuse a key, undefined for the others. */
function createVisitors(root: JsonSchemaNode): (node: JsonSchemaNode) => Visit | undefined {
  const resolve = createRefResolver(root);
  const onlyRef = refHidesSiblings(draftOf(root));
  const visits = new Map<JsonSchemaObject, Visit | undefined>();
  const choice = createUnionChoice(root, resolve, (node, value) => {
    const trail: Trail = { keys: [], found: undefined };
    visitOf(node)?.(value, trail);
    return trail.found?.size ?? 0;
  });

  function visitOf(node: unknown): Visit | undefined {
    if (!isSchemaObject(node)) return undefined;
    if (!visits.has(node)) visits.set(node, compile(node));
    return visits.get(node);
  }

  function compile(node: JsonSchemaObject): Visit | undefined {
    if (typeof node.$ref === 'string' && onlyRef) return visitRef(node, resolve, visitOf);
    return sequence([
      visitLevel(node, resolve, choice),
      visitProperties(node, visitOf),
      visitItems(node, visitOf),
      typeof node.$ref === 'string' ? visitRef(node, resolve, visitOf) : undefined,
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
  if (visits.length < 2) return visits[0];
  return (value, trail) => {
    for (const visit of visits) visit(value, trail);
  };
}

/** Made when it first runs, because schemas are recursive. */
function visitRef(node: JsonSchemaObject, resolve: ResolveRef, visitOf: VisitOf): Visit {
  let target: Visit | undefined;
  let isMade = false;
  return (value, trail) => {
    if (!isMade) target = visitOf(resolve(node));
    isMade = true;
    target?.(value, trail);
  };
}

/** Checks the keys of the object itself, not of the values in it. */
function visitLevel(node: JsonSchemaObject, resolve: ResolveRef, choice: UnionChoice): Visit | undefined {
  if (node.additionalProperties === false) return visitClosed(node);
  if (node.additionalProperties !== undefined || node.unevaluatedProperties !== false) return undefined;
  const collectNames = compileKnownNames(node, resolve, choice);
  return (value, trail) => {
    if (!isObject(value)) return;
    const known = new Set<string>();
    collectNames(value, known);
    for (const key of Object.keys(value))
      if (!known.has(key) && value[key] !== undefined) report(trail, key, [...known]);
  };
}

function visitClosed(node: JsonSchemaObject): Visit {
  const known = new Set(mapOf(node.properties).map(([key]) => key));
  const patterns = patternsOf(node);
  return (value, trail) => {
    if (!isObject(value)) return;
    for (const key of Object.keys(value)) {
      if (known.has(key) || value[key] === undefined || patterns.some((pattern) => pattern.test(key))) continue;
      report(trail, key, [...known]);
    }
  };
}

function visitProperties(node: JsonSchemaObject, visitOf: VisitOf): Visit | undefined {
  const declared = new Set(mapOf(node.properties).map(([key]) => key));
  const own = mapOf(node.properties).flatMap(([key, sub]) => entryIf(key, visitOf(sub)));
  const byPattern = mapOf(node.patternProperties).flatMap(([source, sub]) => {
    const pattern = unicodePattern(source);
    return pattern === undefined ? [] : entryIf(new RegExp(pattern, 'u'), visitOf(sub));
  });
  const others = visitOf(node.additionalProperties);
  const patterns = patternsOf(node);
  if (own.length + byPattern.length === 0 && others === undefined) return undefined;
  return (value, trail) => {
    if (!isObject(value)) return;
    for (const [key, visit] of own) if (Object.hasOwn(value, key)) visitAt(key, value[key], trail, visit);
    if (byPattern.length === 0 && others === undefined) return;
    for (const key of Object.keys(value)) {
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
    for (let index = 0; index < value.length; index++) {
      const visit = index < first.length ? first[index] : rest;
      if (visit !== undefined) visitAt(index, value[index], trail, visit);
    }
  };
}

function visitUnion(branches: readonly JsonSchemaNode[], visitOf: VisitOf, choice: UnionChoice): Visit | undefined {
  if (branches.every((branch) => visitOf(branch) === undefined)) return undefined;
  return (value, trail) => {
    for (const branch of choice.branchesFor(branches, value)) visitOf(branch)?.(value, trail);
  };
}

function visitConditions(node: JsonSchemaObject, visitOf: VisitOf, choice: UnionChoice): Visit | undefined {
  const dependent = mapOf(node.dependentSchemas).flatMap(([key, sub]) => entryIf(key, visitOf(sub)));
  const condition = node.if as JsonSchemaNode | undefined;
  const [whenTrue, whenFalse] = condition === undefined ? [] : [visitOf(node.then), visitOf(node.else)];
  if (dependent.length === 0 && whenTrue === undefined && whenFalse === undefined) return undefined;
  return (value, trail) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, visit] of dependent) if (Object.hasOwn(value, key)) visit(value, trail);
    if (condition !== undefined) (choice.fits(condition, value) ? whenTrue : whenFalse)?.(value, trail);
  };
}

function visitAt(key: PropertyKey, value: unknown, trail: Trail, visit: Visit): void {
  trail.keys.push(key);
  visit(value, trail);
  trail.keys.pop();
}

function report(trail: Trail, key: string, known: readonly string[]): void {
  const path = [...trail.keys, key];
  trail.found ??= new Map();
  trail.found.set(formatPath(path), { path, known });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
