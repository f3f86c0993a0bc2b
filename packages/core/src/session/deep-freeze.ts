import { SessionError } from '../errors.ts';

// Objects that were walked to their leaves. `Object.isFrozen` is not enough: a tool may pass a frozen object with
// mutable parts.
const walked = new WeakSet<object>();

/**
 * Freezes plain data in depth, so that readers cannot change committed state in place. Parts that are the same as in
 * `before` are already frozen and are not walked again: the cost follows what changed. Objects that freezing does not
 * protect (a Map, a Date, an instance of a class) are refused with their path.
 */
export function deepFreeze<T>(value: T, before: unknown, path: string = '', walking: Set<object> = new Set()): T {
  if (typeof value !== 'object' || value === null || value === before) return value;
  if (walked.has(value) || walking.has(value)) return value;
  if (!isPlain(value)) throw new SessionError(`State is plain data, and ${describe(value)} is not${at(path)}.`);
  // A cycle ends at the first object met twice. Objects are marked as walked only once all of the value was found to be
  // plain.
  walking.add(value);
  if (Array.isArray(value)) freezeItems(value, Array.isArray(before) ? before : [], path, walking);
  else freezeFields(value as Record<string, unknown>, before, path, walking);
  walked.add(value);
  return Object.freeze(value);
}

function freezeItems(items: readonly unknown[], before: readonly unknown[], path: string, walking: Set<object>): void {
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (typeof item === 'object' && item !== before[index])
      deepFreeze(item, before[index], `${path}[${index}]`, walking);
  }
}

function freezeFields(fields: Record<string, unknown>, before: unknown, path: string, walking: Set<object>): void {
  const old = typeof before === 'object' && before !== null ? (before as Record<string, unknown>) : undefined;
  for (const key of Object.keys(fields)) {
    const field = fields[key];
    if (typeof field === 'object') deepFreeze(field, old?.[key], `${path}.${key}`, walking);
  }
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function describe(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? `a ${name}` : 'an object with a custom prototype';
}

function at(path: string): string {
  return path === '' ? '' : ` (at ${path.replace(/^\./, '')})`;
}
