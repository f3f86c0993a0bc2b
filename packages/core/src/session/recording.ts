import { assertJson } from './json-state.ts';
import { type Root, rollBack, type Slot, slotNamed } from './root.ts';
import { builtInNamed, isUnrecorded } from './slice.ts';
import { diffState, type StatePatch } from './state-patch.ts';
import { isUnclaimed } from './unclaimed.ts';

/** How the end of a call changed a slice. Its version and policy are known even if its definition is missing. */
export interface SliceChange {
  readonly version: number;
  /** Absent for `state`. */
  readonly policy?: 'log';
  readonly patch: StatePatch;
}

/** Keyed by the names of the slices. */
export type SliceChanges = Readonly<Record<string, SliceChange>>;

/** The draft of a call whose end is being written. */
interface Draft {
  readonly isDecided: boolean;
  /** The state below after its commit. */
  rootUpon(below: Root): Root;
}

/**
 * What a journal knows of the state. Changes are written as the reducers' results, and not as events: reducers change
 * with the program and may be removed, but what a call wrote stays the same.
 */
export class Recording {
  #written: Root;
  /** Calls without effects run in parallel: their ends may be in the journal and not yet in the session. */
  readonly #beingWritten = new Set<Draft>();

  constructor(root: Root) {
    this.#written = root;
  }

  get written(): Root {
    return this.#written;
  }

  /**
   * The data for the journal at the end of a call. Throws if JSON would lose some of it; then nothing counts as
   * written.
   */
  stage(session: Root, draft?: Draft): SliceChanges {
    for (const one of this.#beingWritten) if (one.isDecided) this.#beingWritten.delete(one);
    let root = session;
    for (const one of this.#beingWritten) root = one.rootUpon(root);
    if (draft !== undefined) root = draft.rootUpon(root);
    const changes = changesOf(this.#written, root);
    this.#written = root;
    if (draft !== undefined) this.#beingWritten.add(draft);
    return changes;
  }

  /** Throws if JSON would lose some of what has changed since the journal was last written. */
  check(root: Root): void {
    changesOf(this.#written, root);
  }

  /** The journal may have refused some of its data: the next change of each slice is written whole. */
  distrust(): void {
    this.#written = this.#written.map(({ slice }) => ({ slice, state: UNSURE }));
    this.#beingWritten.clear();
  }

  /** A replay also resets state at the start of a run, but not in slices whose definition is missing. */
  runStarted(root: Root): void {
    const before = this.#written;
    this.#written = root.map(({ slice, state }) => {
      const isSure = builtInNamed(slice.name) === slice || slotNamed(before, slice.name)?.state === state;
      return { slice, state: isSure ? state : UNSURE };
    });
  }

  /** The session returns to the point at which the journal knew `written`. */
  goBack(written: Root): void {
    this.#written = rollBack(written, this.#written);
  }
}

/** Replaces a state that a replay may have or not: the next one is written whole. */
const UNSURE: object = Object.freeze({});

function changesOf(before: Root, after: Root): SliceChanges {
  const changes: [string, SliceChange][] = [];
  for (const slot of after) {
    const old = slotNamed(before, slot.slice.name);
    if (old !== undefined && old.state === slot.state && old.slice.version === slot.slice.version) continue;
    if (isUnrecorded(slot.slice)) continue;
    const patch = patchOf(old, slot);
    if (patch === undefined) continue;
    const { name, version, policy } = slot.slice;
    changes.push([name, { version, ...(policy === 'log' ? { policy } : {}), patch }]);
  }
  return Object.fromEntries(changes);
}

function patchOf(old: Slot | undefined, { slice, state }: Slot): StatePatch | undefined {
  // It is as it was stored: it has no reducers that could have changed it.
  if (isUnclaimed(slice)) return undefined;
  const { name, version, initial } = slice;
  if (old !== undefined && old.slice.version === version && isWritten(old))
    return diffState(old.state, state, (value) => assertStorable(value, { name, state }));
  assertJson(state, name);
  // If its definition is known, so is the initial state.
  return old === undefined && state === initial ? undefined : { is: state };
}

/** A slice that is registered and was never changed is not in a journal. */
function isWritten({ slice, state }: Slot): boolean {
  return state !== slice.initial && state !== UNSURE;
}

/** Checks what is new. The error names the path in the whole state. */
function assertStorable(value: unknown, { name, state }: { readonly name: string; readonly state: unknown }): void {
  try {
    assertJson(value, name);
  } catch (error) {
    assertJson(state, name);
    throw error;
  }
}
