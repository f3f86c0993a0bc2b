import type { Json } from './tables.ts';

/** What a column of JSON text holds. `undefined` is kept as null: JSON has no other word for it. */
export function toJson(value: unknown): Json {
  return JSON.stringify(value) ?? 'null';
}

/** Reads what `toJson` wrote. The type is the caller's claim: only this package writes the store. */
export function fromJson<T>(text: Json): T {
  return JSON.parse(text) as T;
}
