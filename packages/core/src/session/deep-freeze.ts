import { SessionError } from '../errors.ts';

// What was walked to its leaves. `Object.isFrozen` would not do: a tool may hand over a frozen object with loose parts.
const walked = new WeakSet<object>();

/**
 * Freezes plain data in depth, so that nobody who reads committed state can change it in place. What is the same as in
 * `before` was frozen already and is not walked again: the cost follows what changed. Objects that freezing does not
 * protect (a Map, a Date, an instance of a class) are refused, naming where they are.
 */
export function deepFreeze<T>(value: T, before: unknown, path: string = ''): T {
  if (typeof value !== 'object' || value === null || value === before || walked.has(value)) return value;
  if (!isPlain(value)) throw new SessionError(`State is plain data, and ${describe(value)} is not${at(path)}.`);
  // Marked before its children are walked: a cycle then ends at the first object seen twice.
  walked.add(value);
  if (Array.isArray(value)) freezeItems(value, Array.isArray(before) ? before : [], path);
  else freezeFields(value as Record<string, unknown>, before, path);
  return Object.freeze(value);
}

function freezeItems(items: readonly unknown[], before: readonly unknown[], path: string): void {
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (typeof item === 'object' && item !== before[index]) deepFreeze(item, before[index], `${path}[${index}]`);
  }
}

function freezeFields(fields: Record<string, unknown>, before: unknown, path: string): void {
  const old = typeof before === 'object' && before !== null ? (before as Record<string, unknown>) : undefined;
  for (const key of Object.keys(fields)) {
    const field = fields[key];
    if (typeof field === 'object') deepFreeze(field, old?.[key], `${path}.${key}`);
  }
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function describe(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? `a ${name}` : 'an object with a prototype of its own';
}

function at(path: string): string {
  return path === '' ? '' : ` (at ${path.replace(/^\./, '')})`;
}
