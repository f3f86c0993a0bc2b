import { type JsonSchemaObject, jsonSchema } from '@lastcall/core';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { StateError } from '../errors.ts';
import { isPlainObject, type Plain, type PlainObject, samePlain, toPlain } from './plain.ts';

/** A schema of state: a Standard Schema (zod, valibot, arktype, …) that validates synchronously, or a JSON Schema. */
export type StateSchema<S> = StandardSchemaV1<unknown, S> | JsonSchemaObject;

/** The fields of a state that change, and their new values. */
export interface FieldPatch {
  readonly set: PlainObject;
  readonly unset: readonly string[];
}

const NOTHING: PlainObject = toPlain({}, '') as PlainObject;

/**
 * The state as parsed by its schema: checked, defaults filled in, plain and frozen. Throws a StateError that names the
 * path.
 */
export function parseState(schema: unknown, value: unknown, path: string): PlainObject {
  if (schema === undefined) return parseNothing(value, path);
  const result = standardOf(schema, path).validate(value);
  if (result instanceof Promise) {
    result.catch(() => {});
    throw new StateError(
      path,
      'its schema validates asynchronously, but state is checked synchronously. Use a synchronous schema.',
    );
  }
  const { issues } = result;
  if (issues !== undefined && issues !== null) throw refused(issues, path);
  const { value: parsed } = result as { value: unknown };
  if (!isPlainObject(parsed)) throw new StateError(path, 'state must be an object of fields.');
  return toPlain(parsed, path) as PlainObject;
}

/**
 * Parses the first state of an instance. Refuses a schema that would not accept its own output, because the state is
 * parsed again after each patch and when it is restored.
 */
export function firstState(schema: unknown, value: unknown, path: string): PlainObject {
  const state = parseState(schema, value, path);
  assertKept(schema, state, path);
  return state;
}

function assertKept(schema: unknown, state: PlainObject, path: string): void {
  if (samePlain(state, parsedAgain(schema, state, path))) return;
  throw new StateError(
    path,
    'its schema changes its own output when it parses it again. Move the transform out of the state schema.',
  );
}

function parsedAgain(schema: unknown, state: PlainObject, path: string): PlainObject | undefined {
  try {
    return parseState(schema, state, path);
  } catch {
    return undefined;
  }
}

/**
 * The state after a patch, and which fields it writes. A field that is `undefined` is removed. Throws and changes
 * nothing if the result would not fit the schema, or if the schema has no such field.
 */
export function patchState(
  schema: unknown,
  state: PlainObject,
  patch: unknown,
  path: string,
): { readonly state: PlainObject; readonly fields: FieldPatch } {
  if (!isPlainObject(patch)) throw new StateError(path, 'a patch must be an object of fields.');
  const written = Object.keys(patch);
  const merged = mergeFields(state, {
    set: toPlain(patch, path) as PlainObject,
    unset: written.filter((key) => (patch[key] as unknown) === undefined),
  });
  const next = parseState(schema, merged, path);
  // What the schema left unchanged, it leaves unchanged again. A transform may be of a field that the first state did not have.
  if (!samePlain(next, merged)) assertKept(schema, next, path);
  const unknown = written.find((key) => (patch[key] as unknown) !== undefined && !Object.hasOwn(next, key));
  if (unknown !== undefined) throw new StateError(path, `has no field ${JSON.stringify(unknown)}.`);
  return { state: next, fields: fieldsWritten(state, next, written) };
}

/** The state with a patch merged into it, unchecked. */
export function mergeFields(state: PlainObject, { set, unset }: FieldPatch): PlainObject {
  const merged: Record<string, Plain> = { ...state };
  for (const key of Object.keys(set))
    Object.defineProperty(merged, key, { value: set[key], enumerable: true, writable: true, configurable: true });
  for (const key of unset) delete merged[key];
  return toPlain(merged, '') as PlainObject;
}

export function namesOf({ set, unset }: FieldPatch): readonly string[] {
  return [...Object.keys(set), ...unset];
}

/** Reads a schema as it was given. Throws if it is not a schema. */
function standardOf(schema: unknown, path: string): StandardSchemaV1.Props {
  const own = ((schema ?? {}) as { '~standard'?: Partial<StandardSchemaV1.Props> })['~standard'];
  if (typeof own?.validate === 'function') return own as StandardSchemaV1.Props;
  if (!isPlainObject(schema)) throw new StateError(path, 'must be a Standard Schema (zod, …) or a JSON Schema.');
  const known = documents.get(schema);
  if (known !== undefined) return known;
  const standard = jsonSchema(schema)['~standard'] as StandardSchemaV1.Props;
  documents.set(schema, standard);
  return standard;
}

/**
 * Refuses schemas that could never hold state: a schema of something other than an object, and an object of schemas or
 * of examples, which is a JSON Schema without a single keyword and would accept everything.
 */
export function checkStateSchema(schema: unknown, path: string): void {
  standardOf(schema, path);
  const document = stateDocument(schema);
  if (document?.type !== undefined && ![document.type].flat().includes('object'))
    throw new StateError(
      path,
      `must be a schema of an object of fields, not of type ${JSON.stringify(document.type)}.`,
    );
  const isBare = isPlainObject(schema) && !('~standard' in schema);
  if (isBare && Object.keys(schema).length > 0 && !KEYWORDS.some((keyword) => keyword in schema))
    throw new StateError(path, "must be a schema: z.object({ … }), or a JSON Schema with type: 'object'.");
}

// Every JSON Schema that restricts an object has one of these.
const KEYWORDS: readonly string[] = [
  'type',
  'properties',
  'additionalProperties',
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'enum',
  '$schema',
  'required',
];

/** The JSON Schema of a state, if its library can produce one. */
export function stateDocument(schema: unknown): PlainObject | undefined {
  const standard = standardOf(schema, 'state') as { jsonSchema?: { input?: (options: object) => unknown } };
  try {
    const document: unknown = standard.jsonSchema?.input?.({ target: 'draft-2020-12' });
    return isPlainObject(document) ? document : undefined;
  } catch {
    return undefined;
  }
}

const documents = new WeakMap<object, StandardSchemaV1.Props>();

function parseNothing(value: unknown, path: string): PlainObject {
  if (isPlainObject(value) && Object.keys(value).length === 0) return NOTHING;
  throw new StateError(path, 'there is no state here: give the node a state schema.');
}

/**
 * Changes that the schema makes itself (a default, a transform) count as written; unchanged fields do not, so that
 * others may write them.
 */
function fieldsWritten(before: PlainObject, after: PlainObject, written: readonly string[]): FieldPatch {
  const set: Record<string, Plain> = {};
  for (const key of Object.keys(after)) {
    if (written.includes(key) || !samePlain(before[key], after[key]))
      Object.defineProperty(set, key, { value: after[key], enumerable: true, writable: true, configurable: true });
  }
  const gone = [...new Set([...Object.keys(before), ...written])].filter((key) => !Object.hasOwn(after, key));
  return { set: toPlain(set, '') as PlainObject, unset: gone };
}

function refused(issues: unknown, path: string): StateError {
  const [first, ...rest] = Array.isArray(issues) ? (issues as readonly StandardSchemaV1.Issue[]) : [];
  if (first === undefined) return new StateError(path, 'does not fit its schema.');
  const others = rest.map((issue) => `; ${pathOf(issue, path)}: ${String(issue?.message)}`);
  return new StateError(pathOf(first, path), `${String(first?.message)}${others.join('')}`);
}

function pathOf(issue: StandardSchemaV1.Issue | null | undefined, base: string): string {
  const keys = (issue?.path ?? []).map((part) => (typeof part === 'object' && part !== null ? part.key : part));
  return [base, ...keys.map(String)].join('.');
}
