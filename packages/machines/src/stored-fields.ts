import { StateError, StoredMachineError } from './errors.ts';
import { isPlainObject, type PlainObject } from './plain.ts';
import { parseState } from './state-schema.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function record(value: unknown, path: string): Fields {
  if (isPlainObject(value)) return value;
  throw new StoredMachineError(path, 'must be an object.');
}

export function list(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new StoredMachineError(path, 'must be an array.');
}

export function count(value: unknown, most: number, path: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new StoredMachineError(path, `must be a whole number from 0 to ${most}, and it is ${JSON.stringify(value)}.`);
}

/** Stored state, held to the schema of today. */
export function restoreState(schema: unknown, state: unknown, path: string): PlainObject {
  try {
    return parseState(schema, state, path);
  } catch (cause) {
    if (!(cause instanceof StateError)) throw cause;
    throw new StoredMachineError(cause.path, cause.message.slice(cause.path.length + 2), { cause });
  }
}
