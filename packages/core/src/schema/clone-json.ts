import { SchemaError } from '../errors.ts';
import { setField } from '../parse-json.ts';
import type { Steps } from './steps.ts';

/**
 * A deep copy of plain objects and arrays, as JSON would have it: a property that is undefined is left out. Anything
 * else (a date, an instance of a class) is not copied.
 */
export function cloneJson<T>(value: T, steps?: Steps): T {
  return copyOf(value, steps, 0) as T;
}

/** The limit for checked values: everything that walks over them recurses for each level, and the stack is limited. */
const MOST_LEVELS = 1_000;

function copyOf(value: unknown, steps: Steps | undefined, level: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (steps !== undefined && level > MOST_LEVELS)
    throw new SchemaError(`it is nested more than ${MOST_LEVELS} levels deep`);
  if (Array.isArray(value)) {
    steps?.take(value.length);
    return value.map((item) => copyOf(item, steps, level + 1));
  }
  if (!isPlainObject(value)) return value;
  const copy: Record<string, unknown> = {};
  const keys = Object.keys(value);
  steps?.take(keys.length);
  for (const key of keys) {
    const field = value[key];
    if (field !== undefined) setField(copy, key, copyOf(field, steps, level + 1));
  }
  return copy;
}

/** True if it was made by a literal or by JSON.parse, in any realm. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
