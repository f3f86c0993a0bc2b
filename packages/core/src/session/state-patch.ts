import { SessionError } from '../errors.ts';

/**
 * How one state became the next, as plain data: the new value, the fields of an object that changed or were removed,
 * the items of an array that changed, or the part of an array that was replaced. Its size follows what changed.
 */
export type StatePatch =
  | { readonly is: unknown }
  | { readonly fields: Readonly<Record<string, StatePatch>>; readonly gone?: readonly string[] }
  | { readonly items: Readonly<Record<string, StatePatch>> }
  | { readonly from: number; readonly removed: number; readonly added: readonly unknown[] };

type Fields = Readonly<Record<string, unknown>>;

/** Receives each new value in a patch, and throws if it cannot be stored. */
type Check = (value: unknown) => void;

/** Undefined if nothing differs. States share unchanged parts, so only differences are walked. */
export function diffState(before: unknown, after: unknown, check: Check): StatePatch | undefined {
  if (before === after) return undefined;
  if (Array.isArray(before) && Array.isArray(after)) return diffItems(before, after, check);
  return isFields(before) && isFields(after) ? diffFields(before, after, check) : replaced(after, check);
}

function replaced(after: unknown, check: Check): StatePatch {
  check(after);
  return { is: after };
}

/** Throws if the patch was not made from this state. */
export function patchState(before: unknown, patch: StatePatch): unknown {
  if ('is' in patch) return patch.is;
  if ('fields' in patch && isFields(before)) return patchFields(before, patch);
  if ('items' in patch && Array.isArray(before)) return patchItems(before, patch.items);
  if ('added' in patch && Array.isArray(before) && patch.from + patch.removed <= before.length)
    return [...before.slice(0, patch.from), ...patch.added, ...before.slice(patch.from + patch.removed)];
  throw new SessionError('A stored change does not fit the state before it.');
}

/** Up to this many items are compared one by one, however many of them changed. */
const MOST_ITEMS = 8;

function diffItems(before: readonly unknown[], after: readonly unknown[], check: Check): StatePatch | undefined {
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before[from] === after[from]) from++;
  let same = 0;
  while (same < shorter - from && before[before.length - 1 - same] === after[after.length - 1 - same]) same++;
  const removed = before.length - from - same;
  const added = after.slice(from, after.length - same);
  if (removed !== added.length) {
    check(added);
    return { from, removed, added };
  }
  // Most items changed, as in a sliding window: item by item, the patch would be larger than the array.
  if (added.length > MOST_ITEMS && added.length > after.length / 2) return replaced(after, check);
  const changed = added.map((item, index) => [from + index, diffState(before[from + index], item, check)] as const);
  return patchOf(changed, (items) => ({ items }));
}

function diffFields(before: Fields, after: Fields, check: Check): StatePatch | undefined {
  const gone = Object.keys(before).filter((key) => before[key] !== undefined && fieldOf(after, key) === undefined);
  // JSON has no fields that are undefined.
  const kept = Object.keys(after).filter((key) => after[key] !== undefined);
  if (!keepsOrder(before, kept)) return replaced(after, check);
  const changed = kept.map((key) => [key, diffState(fieldOf(before, key), after[key], check)] as const);
  if (gone.length === 0) return patchOf(changed, (fields) => ({ fields }));
  return patchOf(changed, (fields) => ({ fields, gone })) ?? { fields: {}, gone };
}

/** True if the fields keep their order when new ones are added after the others. */
function keepsOrder(before: Fields, kept: readonly string[]): boolean {
  const isNew = (key: string): boolean => fieldOf(before, key) === undefined;
  const stays = new Set(kept);
  const old = Object.keys(before).filter((key) => before[key] !== undefined && stays.has(key));
  const patched = Object.keys(Object.fromEntries([...old, ...kept.filter(isNew)].map((key) => [key, true])));
  return patched.every((key, index) => key === kept[index]);
}

function patchOf(
  changed: readonly (readonly [number | string, StatePatch | undefined])[],
  toPatch: (parts: Readonly<Record<string, StatePatch>>) => StatePatch,
): StatePatch | undefined {
  const parts = changed.filter((one): one is readonly [number | string, StatePatch] => one[1] !== undefined);
  return parts.length === 0 ? undefined : toPatch(Object.fromEntries(parts));
}

function patchFields(before: Fields, { fields, gone = [] }: Extract<StatePatch, { fields: unknown }>): Fields {
  const isGone = new Set(gone);
  const old = Object.entries(before).filter(([key, value]) => value !== undefined && !isGone.has(key));
  const patched = Object.entries(fields).map(([key, patch]) => [key, patchState(fieldOf(before, key), patch)] as const);
  return Object.fromEntries([...old, ...patched]);
}

function patchItems(before: readonly unknown[], items: Readonly<Record<string, StatePatch>>): readonly unknown[] {
  const after = [...before];
  for (const [index, patch] of Object.entries(items)) after[Number(index)] = patchState(before[Number(index)], patch);
  return after;
}

/** Reads own fields only: an object made by JSON may have one named like a method of all objects. */
function fieldOf(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
