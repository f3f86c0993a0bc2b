import { SessionError } from '../errors.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { AnySlice, Reducer, SessionEvent, Slice } from './slice.ts';

/**
 * All state of a session: one immutable value. A snapshot is keeping a reference to it and a rollback is taking an old
 * reference back, so both cost the same at any size.
 */
export type Root = ReadonlyMap<string, Slot>;

export interface Slot {
  readonly slice: AnySlice;
  readonly state: unknown;
}

export const emptyRoot: Root = new Map();

/** The root with a slice in its initial state, or the same root where it is already. */
export function withSlice(root: Root, slice: AnySlice): Root {
  const known = root.get(slice.name);
  if (known === undefined) return new Map(root).set(slice.name, { slice, state: slice.initial });
  if (known.slice === slice) return root;
  throw new SessionError(`Two different slices are named "${slice.name}". Rename one, or share one definition.`);
}

export function readSlice<S>(root: Root, slice: Slice<S>): S {
  const slot = root.get(slice.name);
  if (slot === undefined) return slice.initial;
  if (slot.slice !== slice) withSlice(root, slice);
  return slot.state as S;
}

/** The root after an event. All reducers run before anything is kept: one that throws leaves nothing of the event. */
export function reduceRoot(root: Root, event: SessionEvent, policy?: 'log'): Root {
  let next: Map<string, Slot> | undefined;
  for (const [name, slot] of root) {
    const reducer = slot.slice.on[event.type] as Reducer<unknown> | undefined;
    if (reducer === undefined || (policy !== undefined && slot.slice.policy !== policy)) continue;
    const state = reducer(slot.state, event);
    if (state === slot.state) continue;
    next ??= new Map(root);
    next.set(name, { slice: slot.slice, state: deepFreeze(state, slot.state) });
  }
  return next ?? root;
}

/** `before`, with the `log` slices of `after`: what a rollback leaves. */
export function rollBack(before: Root, after: Root): Root {
  if (before === after) return before;
  let next: Map<string, Slot> | undefined;
  for (const [name, slot] of after) {
    const old = before.get(name)?.state ?? slot.slice.initial;
    if (slot.slice.policy !== 'log' || slot.state === old) continue;
    next ??= new Map(before);
    next.set(name, slot);
  }
  return next ?? before;
}

/** `after`, with the slices that `now` has come to know since `before`. */
export function withSlicesOf(after: Root, now: Root, before: Root): Root {
  if (now === before) return after;
  let root = after;
  for (const { slice } of now.values()) root = withSlice(root, slice);
  return root;
}
