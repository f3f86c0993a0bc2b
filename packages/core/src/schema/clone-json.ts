/**
 * A deep copy of plain objects and arrays, as JSON would have it: a property that is undefined is not there. Anything else
 * (a date, a class's instance) stays what it is.
 */
export function cloneJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  // Through entries, because JSON.parse makes `__proto__` a property like any other, and an assignment would not.
  return Object.fromEntries(entries.map(([key, one]) => [key, cloneJson(one)])) as T;
}

/** Made by a literal or by JSON.parse, in whatever realm. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
