import { CharterError } from '../errors.ts';
import type { AnyNode } from './node-types.ts';
import { isPlainObject, type PlainObject } from './plain.ts';
import { parseState, stateDocument } from './state-schema.ts';
import { unknownField } from './unknown-name.ts';

/**
 * Which fields of its node's state a model may write. The built-in tool offers those; without any, it is not offered.
 */
export type Writable = 'everything' | 'nothing' | readonly string[];

/** Reads a node's `updateState`. Refuses a field that the state does not have, because no patch could write it. */
export function writableFields(
  { state, updateState }: AnyNode,
  initial: PlainObject | undefined,
  path: string,
): Writable {
  if (updateState === false) return 'nothing';
  if (state === undefined) {
    if (updateState === undefined) return 'nothing';
    throw new CharterError(path, 'this node has no state to write: give it a state schema, or leave the option out.');
  }
  if (updateState === undefined || updateState === true) return 'everything';
  return listed(updateState, { schema: state, initial, path });
}

interface Fields {
  readonly schema: unknown;
  readonly initial: PlainObject | undefined;
  readonly path: string;
}

function listed(given: unknown, fields: Fields): Writable {
  const { path } = fields;
  if (typeof given === 'string') throw new CharterError(path, `must be a list: ['${given}'].`);
  if (!Array.isArray(given)) throw new CharterError(path, 'must be true, false or a list of fields.');
  given.forEach((name: unknown, index) => {
    if (typeof name !== 'string' || name === '' || name === '__proto__')
      throw new CharterError(`${path}[${index}]`, `must be the name of a field, not ${JSON.stringify(name)}.`);
    const known = namesWithout(name, fields);
    if (known !== undefined) throw new CharterError(`${path}[${index}]`, unknownField(name, known));
  });
  return given.length === 0 ? 'nothing' : [...new Set(given as readonly string[])];
}

/** The existing fields if this name is surely none of them; undefined if it is one, or if that cannot be decided. */
function namesWithout(name: string, { schema, initial, path }: Fields): readonly string[] | undefined {
  const document = stateDocument(schema);
  if (document === undefined)
    return initial !== undefined && isDropped(name, schema, initial, path) ? Object.keys(initial) : undefined;
  const names = new Set<string>();
  const isOpen = !collect(document, names) || names.size === 0;
  return isOpen || names.has(name) ? undefined : [...names];
}

/** True if the schema silently drops the field. A field that it knows would be kept, or refused as null. */
function isDropped(name: string, schema: unknown, initial: PlainObject, path: string): boolean {
  try {
    return !Object.hasOwn(parseState(schema, { ...initial, [name]: null }, path), name);
  } catch {
    return false;
  }
}

/** Collects the fields of a JSON Schema from all its branches. False if it accepts fields that it does not name. */
function collect(schema: unknown, names: Set<string>): boolean {
  if (!isPlainObject(schema)) return false;
  const { properties, additionalProperties = false, allOf = [], anyOf = [], oneOf = [] } = schema;
  if (additionalProperties !== false || OPEN.some((key) => key in schema)) return false;
  for (const name of Object.keys(isPlainObject(properties) ? properties : {})) names.add(name);
  return [allOf, anyOf, oneOf].flat().every((branch) => collect(branch, names));
}

// With any of these keywords, a schema may allow fields that are named elsewhere, or nowhere.
const OPEN: readonly string[] = ['patternProperties', 'unevaluatedProperties', '$ref', '$dynamicRef', 'if', 'not'];
