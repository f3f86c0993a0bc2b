import type { Json } from './tables.ts';

/** What a column of JSON text holds. `undefined` is kept as null: JSON has no other word for it. */
export function toJson(value: unknown): Json {
  return JSON.stringify(value) ?? 'null';
}

/** Reads what `toJson` wrote. The type is the caller's claim: only this package writes the store. */
export function fromJson<T>(text: Json): T {
  return JSON.parse(text) as T;
}

/** The JSON text of a value, with the keys of every object in order: the same text for values that differ only in their order. */
export function canonicalJson(value: unknown): Json {
  return JSON.stringify(value, sortKeys) ?? 'null';
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** The JSON text of an object with one more field, which is JSON text too: what is serialized already is not parsed to be joined. */
export function withJsonField(object: Json, name: string, field: Json): Json {
  return withJsonFields(object, { [name]: field });
}

/** The same with several fields. To add them one by one would copy the text each time, because a joined text is copied when it is cut. */
export function withJsonFields(object: Json, fields: Readonly<Record<string, Json>>): Json {
  let text = object.slice(0, -1);
  for (const name of Object.keys(fields))
    text += `${text.length === 1 ? '' : ','}${JSON.stringify(name)}:${fields[name]}`;
  return `${text}}`;
}

/** The value itself, where JSON can say it; otherwise as much of it as it can: tools give and report what they like. */
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
    return JSON.parse(JSON.stringify(value, plain));
  } catch {
    // A getter that throws, or what is too deep or too long for a text.
    return '[a value that is no JSON]';
  }
}
