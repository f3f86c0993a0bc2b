import { dereference, type OutputUnit, type Schema, type SchemaDraft, validate } from '@cfworker/json-schema';
import { draftOf } from './draft.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import { createRefResolver } from './refs.ts';
import { isSchemaObject, mapSubschemas } from './subschemas.ts';
import { unicodePattern } from './unicode-pattern.ts';

/** Interprets one document. Nothing is compiled to code, so it also runs where `new Function` is forbidden. */
export interface Interpreter {
  /** What is interpreted: only keywords that assert, each `$ref` to `#` or to one of its `$defs`. */
  readonly document: JsonSchemaObject;
  fits(node: JsonSchemaNode, value: unknown): boolean;
  /** Every error, those of parent keywords included. Empty where the value fits. */
  errors(value: unknown): readonly OutputUnit[];
}

/**
 * Works on a copy of its own: the library marks the schemas it reads, follows `id` and `$ref` into annotations, and trips
 * over patterns and formats that it does not know.
 *
 * @param options.extraKeys 'ignored' leaves out what forbids further keys.
 */
export function createInterpreter(root: JsonSchemaNode, options: { extraKeys: 'refused' | 'ignored' }): Interpreter {
  const draft = draftOf(root);
  const resolve = createRefResolver(root);
  const copies = new Map<JsonSchemaObject, JsonSchemaObject>();
  const names = new Map<JsonSchemaObject, string>();
  const definitions: Record<string, unknown> = {};
  const document: JsonSchemaObject = { ...copy(root), $defs: definitions };
  const lookup = dereference(document as Schema);
  if (isSchemaObject(root)) copies.set(root, document);

  function copy(node: JsonSchemaNode): JsonSchemaObject {
    // As an object, `false` gives errors with a place in the schema.
    if (!isSchemaObject(node)) return node ? {} : { not: {} };
    const assertions = Object.fromEntries(Object.entries(node).filter(([keyword]) => ASSERTIONS.has(keyword)));
    const result = mapSubschemas(assertions, (sub, { keyword }) => {
      const isClosing = sub === false && (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties');
      return isClosing && options.extraKeys === 'ignored' ? undefined : copy(sub);
    });
    copies.set(node, result);
    rewriteRef(node, result);
    rewriteDependencies(result);
    rewriteTexts(result);
    return result;
  }

  function rewriteRef(node: JsonSchemaObject, result: Record<string, unknown>): void {
    const target = resolve(node);
    delete result.$ref;
    if (target === undefined) return;
    if (isSchemaObject(target)) result.$ref = target === root ? '#' : `#/$defs/${nameOf(target)}`;
    else if (!target) result.not = {};
  }

  function nameOf(target: JsonSchemaObject): string {
    const known = names.get(target);
    if (known !== undefined) return known;
    const name = String(names.size);
    names.set(target, name);
    definitions[name] = copy(target);
    return name;
  }

  const run = (node: JsonSchemaObject, value: unknown, shortCircuit: boolean): ReturnType<typeof validate> =>
    validate(value, node as Schema, draft satisfies SchemaDraft, lookup, shortCircuit);
  return {
    document,
    fits: (node, value) => (isSchemaObject(node) ? run(copies.get(node) ?? {}, value, true).valid : node),
    errors: (value) => run(document, value, false).errors,
  };
}

const ASSERTIONS: ReadonlySet<string> = new Set(
  `$ref type const enum required properties patternProperties additionalProperties unevaluatedProperties propertyNames
  minProperties maxProperties dependentRequired dependentSchemas dependencies items prefixItems additionalItems
  unevaluatedItems contains minContains maxContains minItems maxItems uniqueItems minimum maximum exclusiveMinimum
  exclusiveMaximum multipleOf minLength maxLength pattern format allOf anyOf oneOf not if then else`.split(/\s+/),
);

/** The old keyword for two newer ones. Under its own name the library forgets which keys it knew. */
function rewriteDependencies(schema: Record<string, unknown>): void {
  if (!isSchemaObject(schema.dependencies)) return;
  const entries = Object.entries(schema.dependencies);
  const lists = entries.filter(([, value]) => Array.isArray(value));
  const schemas = entries.filter(([, value]) => !Array.isArray(value));
  schema.dependentRequired = Object.fromEntries([...lists, ...Object.entries(schema.dependentRequired ?? {})]);
  schema.dependentSchemas = Object.fromEntries([...schemas, ...Object.entries(schema.dependentSchemas ?? {})]);
  delete schema.dependencies;
}

function rewriteTexts(schema: Record<string, unknown>): void {
  if (typeof schema.pattern === 'string') setOrDelete(schema, 'pattern', unicodePattern(schema.pattern));
  // The library looks formats up in a plain object, where `constructor` is found too.
  if (typeof schema.format !== 'string' || schema.format in Object.prototype) delete schema.format;
  if (!isSchemaObject(schema.patternProperties)) return;
  const entries = Object.entries(schema.patternProperties).map(
    ([pattern, sub]) => [unicodePattern(pattern), sub] as const,
  );
  schema.patternProperties = Object.fromEntries(entries.filter(([pattern]) => pattern !== undefined));
}

function setOrDelete(schema: Record<string, unknown>, keyword: string, value: unknown): void {
  if (value === undefined) delete schema[keyword];
  else schema[keyword] = value;
}
