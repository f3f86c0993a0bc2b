import type { Change } from '@lastcall/core';

/** The changes of goals, memories or plans by a call, as people see them. */
export function written(kind: string, notes: readonly { readonly key: string }[]): readonly Change[] {
  return notes.map(({ key, ...sample }) => ({ kind, name: key, count: 1, sample }));
}

export function deleted(kind: string, keys: readonly string[]): readonly Change[] {
  return keys.map((name) => ({ kind, name, count: 1, sample: 'deleted' }));
}

/** The keys of the notes that a fork has. Undefined outside of one: then the store knows them. */
export function keysOf(notes: readonly { readonly key: string }[] | undefined): ReadonlySet<string> | undefined {
  return notes && new Set(notes.map(({ key }) => key));
}
