import { LastcallError } from '@lastcall/core';
import { isPlainObject, type Plain, type PlainObject, toPlain } from '../charter/plain.ts';
import { parseState } from '../charter/state-schema.ts';
import { StateError, StoredMachineError } from '../errors.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function record(value: unknown, path: string): Fields {
  if (isPlainObject(value)) return value;
  throw new StoredMachineError(path, 'must be an object.');
}

export function list(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new StoredMachineError(path, 'must be an array.');
}

export function text(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  throw new StoredMachineError(path, 'must be a text.');
}

export function flag(value: unknown, path: string): boolean {
  if (typeof value === 'boolean') return value;
  throw new StoredMachineError(path, 'must be true or false.');
}

export function count(value: unknown, most: number, path: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new StoredMachineError(path, `must be a whole number from 0 to ${most}, and it is ${JSON.stringify(value)}.`);
}

export function plain(value: unknown, path: string): Plain {
  return held(path, () => toPlain(value, path));
}

/** Stored state, checked against the current schema. */
export function restoreState(schema: unknown, state: unknown, path: string): PlainObject {
  return held(path, () => parseState(schema, state, path));
}

/** Returns what was read, or throws an error with the most precise path. A schema of the host may throw too. */
export function held<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof StoredMachineError) throw cause;
    if (cause instanceof StateError)
      throw new StoredMachineError(cause.path, cause.message.slice(cause.path.length + 2), { cause });
    const said = cause instanceof Error ? cause.message : 'it threw.';
    const problem = cause instanceof LastcallError ? said : `could not be read: ${said}`;
    throw new StoredMachineError(path, problem, { cause });
  }
}
