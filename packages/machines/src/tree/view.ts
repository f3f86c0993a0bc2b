import { type Session, type Slice, type Staged, slice } from '@lastcall/core';
import { leaveUnrecorded } from '@lastcall/core/internal';
import type { PlainObject } from '../charter/plain.ts';
import { mergeFields } from '../charter/state-schema.ts';
import type { TreeEvent } from './tree-event.ts';

/**
 * What the calls of one instance see of the tree: its state when the step began and their own writes since. It is a
 * slice of the session that core passes to the calls, so a call's writes are a draft: kept if it succeeds, discarded if
 * not.
 */
export interface View {
  /** One object for the whole step: the machine context is looked up by its identity. */
  readonly actor: Actor;
  readonly state: PlainObject;
  readonly packs: { readonly [name: string]: PlainObject };
  /** The states of the ancestors, from the parent up to the root. */
  readonly ancestors: readonly PlainObject[];
  /** The changes of the calls, in order. */
  readonly events: readonly TreeEvent[];
}

/** The instance that acts. */
export interface Actor {
  readonly instanceId: string;
  readonly node: string;
}

interface Based {
  readonly type: 'lastcall.machine.based';
  readonly view: View;
}

const CHANGED = 'lastcall.machine.changed';

interface Changed {
  readonly type: typeof CHANGED;
  readonly event: TreeEvent;
}

const NO_VIEW: View = { actor: { instanceId: '', node: '' }, state: {}, packs: {}, ancestors: [], events: [] };

export const viewSlice: Slice<View> = slice<View>('lastcall.machine', {
  initial: NO_VIEW,
  on: {
    'lastcall.machine.based': (_old, { view }: Based) => view,
    [CHANGED]: (view, { event }: Changed) => follow(view, event),
  },
});

// It comes from the tree, which the machine records by itself.
leaveUnrecorded(viewSlice);

/** Sets the view that a step starts from. */
export function base(session: Session, view: View): void {
  session.dispatch({ type: 'lastcall.machine.based', view } satisfies Based);
}

/** Adds a change to the call; it counts if the call succeeds. */
export function dispatchChange(session: Session, event: TreeEvent): void {
  session.dispatch({ type: CHANGED, event } satisfies Changed);
}

/** The events of a call that change the tree. */
export function changesIn(events: readonly { readonly type: string }[]): readonly TreeEvent[] {
  return events.filter((event): event is Changed => event.type === CHANGED).map(({ event }) => event);
}

/**
 * What a call changed, without its view of the tree and its changes of the tree: the machine stages those by itself.
 * Changes that were rolled back stay for readers of the history.
 */
export function withoutChanges({ events, slices, changes }: Staged): Staged {
  const others = events.filter(({ type }) => type !== CHANGED);
  const committed = changes?.committed.filter(({ name }) => name !== CHANGED) ?? [];
  const discarded = changes?.discarded ?? [];
  return {
    events: others,
    ...(slices === undefined ? {} : { slices }),
    ...(committed.length + discarded.length === 0 ? {} : { changes: { committed, discarded } }),
  };
}

/** Slices without the view, which comes from the tree. */
export function withoutView<T>(slices: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const { [viewSlice.name]: _view, ...rest } = slices;
  return rest;
}

function follow(view: View, event: TreeEvent): View {
  const events = [...view.events, event];
  if (event.kind !== 'patched') return { ...view, events };
  const { target } = event;
  if (target.kind === 'instance') return { ...view, events, state: mergeFields(view.state, event) };
  const state = mergeFields(view.packs[target.name] ?? {}, event);
  return { ...view, events, packs: { ...view.packs, [target.name]: state } };
}
