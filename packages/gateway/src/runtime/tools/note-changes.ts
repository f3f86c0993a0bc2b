import type { Change } from '@lastcall/core';

/** The changes of goals, memories or plans by a call, as people see them. */
export function written(kind: string, notes: readonly { readonly key: string }[]): readonly Change[] {
  return notes.map(({ key, ...sample }) => ({ kind, name: key, count: 1, sample }));
}

export function deleted(kind: string, keys: readonly string[]): readonly Change[] {
  return keys.map((name) => ({ kind, name, count: 1, sample: 'deleted' }));
}
