import { SessionError } from '../errors.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { AnySlice, Reducer, SessionEvent, Slice } from './slice.ts';
import { claimState, isUnclaimed } from './unclaimed.ts';

/**
 * All state of a session: one immutable value. A snapshot keeps a reference to it and a rollback returns to an old
 * reference, so both cost the same at any size. A list and not a map: a session has a handful of slices, and every call
 * that writes copies it.
 */
export type Root = readonly Slot[];

export interface Slot {
  readonly slice: AnySlice;
  readonly state: unknown;
}

export const emptyRoot: Root = [];

export function slotNamed(root: Root, name: string): Slot | undefined {
  for (const slot of root) if (slot.slice.name === name) return slot;
  return undefined;
}

/**
 * The root with a slice: in its initial state, or with the stored state that waits for it. The same root if the slice
 * is already there.
 */
export function withSlice(root: Root, slice: AnySlice): Root {
  const known = slotNamed(root, slice.name);
  if (known === undefined) return [...root, { slice, state: slice.initial }];
  if (known.slice === slice || isUnclaimed(slice)) return root;
  if (isUnclaimed(known.slice)) return withSlot(root, { slice, state: claimState(slice, storedIn(known)) });
  throw new SessionError(`Two different slices are named "${slice.name}". Rename one, or share one definition.`);
}

function storedIn({ slice: { version }, state }: Slot): { version: number; state: unknown } {
  return { version, state };
}

/** The root with the slot of that name replaced, or added. */
export function withSlot(root: Root, slot: Slot): Root {
  const at = root.findIndex(({ slice }) => slice.name === slot.slice.name);
  return at < 0 ? [...root, slot] : root.with(at, slot);
}

export function readSlice<S>(root: Root, slice: Slice<S>): S {
  const slot = slotNamed(root, slice.name);
  if (slot === undefined) return slice.initial;
  if (slot.slice === slice) return slot.state as S;
  if (isUnclaimed(slot.slice)) return claimState(slice, storedIn(slot)) as S;
  withSlice(root, slice);
  return slot.state as S;
}

/** The root after an event. All reducers run before anything is kept: if one throws, the event changes nothing. */
export function reduceRoot(root: Root, event: SessionEvent, policy?: 'log'): Root {
  let next: Slot[] | undefined;
  for (let at = 0; at < root.length; at++) {
    const { slice, state: old } = root[at] as Slot;
    const reducer = slice.on[event.type] as Reducer<unknown> | undefined;
    if (reducer === undefined || (policy !== undefined && slice.policy !== policy)) continue;
    const state = reducer(old, event);
    if (state === old) continue;
    next ??= root.slice();
    next[at] = { slice, state: deepFreeze(state, old) };
  }
  return next ?? root;
}

/** `before` with the `log` slices of `after`: the state after a rollback. */
export function rollBack(before: Root, after: Root): Root {
  if (before === after) return before;
  let next = before;
  for (const slot of after) {
    if (slot.slice.policy !== 'log') continue;
    const old = slotNamed(before, slot.slice.name)?.state ?? slot.slice.initial;
    if (slot.state !== old) next = withSlot(next, slot);
  }
  return next;
}

/** `after` with the slices that were registered in `now` since `before`. */
export function withSlicesOf(after: Root, now: Root, before: Root): Root {
  if (now === before) return after;
  let root = after;
  for (const { slice } of now) root = withSlice(root, slice);
  return root;
}
