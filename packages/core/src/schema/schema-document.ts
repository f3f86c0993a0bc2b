import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import { createRefResolver, type ResolveRef } from './refs.ts';
import { schemaSize } from './schema-size.ts';
import { prepareSteps, Steps } from './steps.ts';
import { isSchemaObject, mapOf } from './subschemas.ts';
import { unicodePattern } from './unicode-pattern.ts';

/**
 * Where a schema comes from. A schema that is data (from a caller, another server, an agent) is not trusted: its
 * patterns are never run, and the steps of preparing it and of checking values against it are limited.
 */
export type SchemaOrigin = 'code' | 'data';

/** A JSON Schema with everything that is needed to read it. */
export interface SchemaDocument {
  readonly root: JsonSchemaNode;
  readonly origin: SchemaOrigin;
  readonly draft: SchemaDraft;
  readonly resolve: ResolveRef;
  /** Up to draft 7, keywords beside a `$ref` are ignored. */
  readonly isOnlyRefRead: boolean;
  /** Counts the work of preparing the schema. */
  readonly steps: Steps;
  /** The only place where a text of a schema becomes a regular expression. Undefined if it is not run. */
  pattern(source: string): RegExp | undefined;
  /** True if there are patterns that are not run: they may allow any name. */
  hasHiddenNames(node: JsonSchemaObject): boolean;
}

/** The longest address in a schema that is data. */
const LONGEST_URI = 2_000;

/** Throws a SchemaError for data that is too large. */
export function openDocument(root: JsonSchemaNode, origin: SchemaOrigin = 'code'): SchemaDocument {
  const draft = draftOf(root);
  const limit = origin === 'data' ? prepareSteps(schemaSize(root)) : undefined;
  const steps = new Steps('making the JSON Schema ready', limit);
  const compile = (source: string): RegExp | undefined => {
    const pattern = unicodePattern(source);
    return pattern === undefined ? undefined : new RegExp(pattern, 'u');
  };
  return {
    root,
    origin,
    draft,
    resolve: createRefResolver(root, { steps, longest: origin === 'data' ? LONGEST_URI : Number.POSITIVE_INFINITY }),
    isOnlyRefRead: refHidesSiblings(draft),
    steps,
    pattern: origin === 'data' ? () => undefined : compile,
    hasHiddenNames: ({ patternProperties }) => origin === 'data' && mapOf(patternProperties).length > 0,
  };
}

type SchemaDraft = '4' | '7' | '2019-09' | '2020-12';

/** The draft that `$schema` names; the newest if it names none that we know. */
function draftOf(schema: JsonSchemaNode): SchemaDraft {
  const named = isSchemaObject(schema) && typeof schema.$schema === 'string' ? schema.$schema : '';
  if (/draft-0?4/.test(named)) return '4';
  if (/draft-0?[67]/.test(named)) return '7';
  return named.includes('2019-09') ? '2019-09' : '2020-12';
}

/** Up to draft 7, keywords beside a `$ref` are ignored. */
function refHidesSiblings(draft: SchemaDraft): boolean {
  return draft === '4' || draft === '7';
}
