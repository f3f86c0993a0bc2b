import type { Section } from '../contract/section.ts';
import { SchemaError } from '../errors.ts';
import { compileSchema } from '../schema/compiled-schema.ts';
import type { JsonSchemaNode } from '../schema/json-schema-object.ts';
import type { CompiledSchema, SchemaResult } from '../schema/schema-result.ts';
import { isSchemaObject, listOf, mapOf } from '../schema/subschemas.ts';

export type Params = Readonly<Record<string, unknown>>;

/** The parameters of one section: their names, and how they are read from those of the whole prompt. */
export interface SectionParams {
  readonly names: ReadonlySet<string>;
  read(given: Params): ParamsResult;
}

type ParamsResult = { readonly ok: true; readonly values: Params } | { readonly ok: false; readonly problem: string };

/** Throws a SchemaError if the schema cannot be used. */
export function compileParams(params: Section['params']): SectionParams {
  if (params === undefined) return WITHOUT;
  return isSchema(params) ? fromSchema(compileSchema(params)) : fromDefaults(params as Params);
}

// A section without declared parameters passes all of them to its template function.
const WITHOUT: SectionParams = { names: new Set(), read: (given) => ({ ok: true, values: given }) };

function isSchema(params: object): boolean {
  if (typeof params === 'function' || '~standard' in params) return true;
  const { type, $schema } = params as Params;
  return type === 'object' || typeof $schema === 'string';
}

function fromDefaults(defaults: Params): SectionParams {
  // A copy, so that later changes by its owner change no prompt.
  const own = { ...defaults };
  const names = new Set(Object.keys(own));
  return { names, read: (given) => ({ ok: true, values: { ...own, ...pick(given, names) } }) };
}

function fromSchema(schema: CompiledSchema): SectionParams {
  const document = schema.jsonSchema();
  if (document instanceof Promise)
    throw new SchemaError('The schema must give its JSON Schema at once, not as a promise.');
  const names = new Set(propertyNames(document));
  return { names, read: (given) => toParams(schema.validate(pick(given, names))) };
}

function propertyNames(node: JsonSchemaNode): readonly string[] {
  if (!isSchemaObject(node)) return [];
  const beside = [...listOf(node.allOf), ...listOf(node.anyOf), ...listOf(node.oneOf)];
  return [...mapOf(node.properties).map(([name]) => name), ...beside.flatMap(propertyNames)];
}

/**
 * The parameters are flat for a whole prompt: parameters that other sections declare must not fail this one's closed
 * schema.
 */
function pick(given: Params, names: ReadonlySet<string>): Params {
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => names.has(name) && value !== undefined));
}

function toParams(result: SchemaResult | Promise<SchemaResult>): ParamsResult {
  if (result instanceof Promise) {
    return {
      ok: false,
      problem: 'the schema of its params validates asynchronously, but a prompt is rendered synchronously',
    };
  }
  if (!result.ok) return { ok: false, problem: result.problems.map(describeProblem).join('; ') };
  if (typeof result.value === 'object' && result.value !== null) return { ok: true, values: result.value as Params };
  return { ok: false, problem: `the schema of its params must give an object, not ${typeof result.value}` };
}

function describeProblem({ path, message }: { readonly path: string; readonly message: string }): string {
  return path === '' ? message : `${path}: ${message}`;
}
