import { parseJson } from '@lastcall/core/internal';
import type { Json } from './tables.ts';

/** The JSON text of a value for a column. `undefined` is stored as null, because JSON has no undefined. */
export function toJson(value: unknown): Json {
  return JSON.stringify(value) ?? 'null';
}

/** A column of JSON has a text that is not JSON: its row is damaged. */
export class UnreadableJson extends SyntaxError {
  override name = 'UnreadableJson';
}

/** Reads what `toJson` wrote. The type is not checked: only this package writes the store. */
export function fromJson<T>(text: Json): T {
  try {
    return parseJson(text) as T;
  } catch (cause) {
    throw new UnreadableJson((cause as Error).message, { cause });
  }
}

/** The JSON text of a value with sorted keys: values that differ only in the order of their keys give the same text. */
export function canonicalJson(value: unknown): Json {
  return JSON.stringify(value, sortKeys) ?? 'null';
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Adds a field to the JSON text of an object. The field is also JSON text, so nothing has to be parsed again. */
export function withJsonField(object: Json, name: string, field: Json): Json {
  return withJsonFields(object, { [name]: field });
}

/**
 * The same for several fields. Adding them one by one would copy the text each time, because slicing a concatenated
 * string copies it.
 */
export function withJsonFields(object: Json, fields: Readonly<Record<string, Json>>): Json {
  let text = object.slice(0, -1);
  for (const name of Object.keys(fields))
    text += `${text.length === 1 ? '' : ','}${JSON.stringify(name)}:${fields[name]}`;
  return `${text}}`;
}

/**
 * Returns the value itself if JSON can represent it, otherwise as much of it as JSON can. Tools may return and report
 * any value.
 */
export function asJson(value: unknown): unknown {
  if (typeof value !== 'object' && typeof value !== 'bigint') return value;
  try {
    JSON.stringify(value);
    return value;
  } catch {
    return readable(value);
  }
}

function readable(value: unknown): unknown {
  const seen = new Set<unknown>();
  const plain = (_key: string, one: unknown): unknown => {
    if (typeof one === 'bigint') return String(one);
    if (typeof one !== 'object' || one === null) return one;
    if (seen.has(one)) return '[seen before]';
    seen.add(one);
    return one;
  };
  try {
    return parseJson(JSON.stringify(value, plain));
  } catch {
    // A getter threw, or the value is too deep or too long for a text.
    return '[a value that is not JSON]';
  }
}
