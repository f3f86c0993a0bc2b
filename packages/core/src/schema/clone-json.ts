/**
 * A deep copy of plain objects and arrays, as JSON would have it: a property that is undefined is not there. Anything else
 * (a date, a class's instance) stays what it is.
 */
export function cloneJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  if (!isPlainObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const field = value[key];
    if (field !== undefined) set(copy, key, cloneJson(field));
  }
  return copy as T;
}

/** JSON.parse makes `__proto__` a property like any other, and an assignment would not. */
function set(copy: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') copy[key] = value;
  else Object.defineProperty(copy, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Made by a literal or by JSON.parse, in whatever realm. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
