import { StateError } from '../errors.ts';
import { decisionKind, misplaced } from './decision-mark.ts';

/** What JSON can hold, deeply frozen. All state of a machine is of this type, so that it can be stored and restored. */
export type Plain = null | boolean | number | string | readonly Plain[] | PlainObject;

export interface PlainObject {
  readonly [key: string]: Plain;
}

// No real state is nearly this deep, and the stack allows far more. The limit also stops at a cycle.
const DEEPEST = 200;

// Values made here are plain already and are not copied again: a patch costs only what it changes.
const made = new WeakSet<object>();

/** A frozen copy. Throws if JSON would lose a value, and names its path; fields that are undefined are left out. */
export function toPlain(value: unknown, path: string, depth: number = 0): Plain {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw notPlain(path, String(value));
      // JSON has no -0: adding 0 gives the 0 that would be read back.
      return value + 0;
    case 'object':
      return value === null ? null : toPlainContainer(value, path, depth);
    default:
      throw notPlain(path, value === undefined ? 'undefined' : `a ${typeof value}`);
  }
}

/** The value if it is plain, else null: for values that are only displayed and are stored whole elsewhere. */
export function toPlainOrNull(value: unknown): Plain {
  try {
    return toPlain(value, '');
  } catch {
    return null;
  }
}

export function isPlainObject(value: unknown): value is PlainObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** True if two plain values are equal. */
export function samePlain(one: Plain | undefined, other: Plain | undefined): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [left, right] = [one as PlainObject, other as PlainObject];
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && samePlain(left[key], right[key]))
  );
}

function toPlainContainer(value: object, path: string, depth: number): Plain {
  if (made.has(value)) return value as Plain;
  if (depth >= DEEPEST) throw new StateError(path, `is nested more than ${DEEPEST} levels deep, or holds itself.`);
  if (!Array.isArray(value) && !isPlainObject(value)) throw notPlain(path, describe(value));
  const copy = Array.isArray(value)
    ? value.map((item, index) => toPlain(item, `${path}[${index}]`, depth + 1))
    : plainFields(value, path, depth);
  made.add(copy);
  return Object.freeze(copy) as Plain;
}

function plainFields(value: PlainObject, path: string, depth: number): PlainObject {
  const kind = decisionKind(value);
  if (kind !== undefined) throw misplaced(kind, `${path} is`);
  const copy: Record<string, Plain> = {};
  for (const key of Object.keys(value)) {
    const field: unknown = value[key];
    if (field === undefined) continue;
    const plain = toPlain(field, path === '' ? key : `${path}.${key}`, depth + 1);
    // Assigning "__proto__" would set the prototype, so the field is defined.
    Object.defineProperty(copy, key, { value: plain, enumerable: true, writable: true, configurable: true });
  }
  return copy;
}

function notPlain(path: string, what: string): StateError {
  return new StateError(path, `must be plain data (what JSON can hold), not ${what}.`);
}

function describe(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? `a ${name}` : 'an object with a custom prototype';
}
