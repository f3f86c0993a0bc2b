import { type Root, readSlice, reduceRoot, rollBack, withSlice, withSlicesOf } from './root.ts';
import type { AnySlice, SessionEvent, Slice } from './slice.ts';
import type { ToolInvoked } from './tool-invoked.ts';

const noEvents: readonly SessionEvent[] = [];

/** The state of the session as one layer sees it, and the events that its commit moves down. */
export class LayerState {
  root: Root;
  /** The root below when the layer was opened. */
  readonly #opened: Root;
  #events: SessionEvent[] | undefined;
  #end: ToolInvoked | undefined;

  constructor(root: Root) {
    this.root = root;
    this.#opened = root;
  }

  /** With `mayAdd`, an unknown slice is registered. */
  read<S>(slice: Slice<S>, mayAdd: boolean): S {
    if (mayAdd) this.root = withSlice(this.root, slice);
    return readSlice(this.root, slice);
  }

  with(slices: readonly AnySlice[]): Root {
    let root = this.root;
    for (const slice of slices) root = withSlice(root, slice);
    return root;
  }

  reduce(event: SessionEvent, policy?: 'log'): void {
    this.root = reduceRoot(this.root, event, policy);
  }

  get events(): readonly SessionEvent[] {
    return this.#events ?? noEvents;
  }

  addEvent(event: SessionEvent): void {
    this.#events ??= [];
    this.#events.push(event);
  }

  /** The end of a call without effects: its commit applies it to the root below. */
  keepEnd(end: ToolInvoked): void {
    this.#end = end;
  }

  /** The root below after the commit of a call that wrote. */
  committedUpon(below: Root): Root {
    return withSlicesOf(this.root, below, this.#opened);
  }

  /**
   * The current root below, which others may have changed, plus what was recorded: the result of committing a call
   * without effects.
   */
  recordedUpon(below: Root): Root {
    const recorded = this.#end === undefined ? this.events : [...this.events, this.#end];
    return recorded.reduce((next, event) => reduceRoot(next, event), below);
  }

  /** The root below with the log entries made here: they are kept even if nothing is committed. */
  loggedUpon(below: Root): Root {
    return rollBack(below, this.root);
  }
}
