import type { Filesystem } from '../files/filesystem.ts';
import type { Resources } from './resource.ts';
import type { SessionJson } from './session-json.ts';
import type { AnySlice, SessionEvent, Slice } from './slice.ts';
import type { Snapshot } from './snapshots.ts';
import type { ToolInvoked } from './tool-invoked.ts';

/** Typed state that calls change in transactions. */
export interface Session {
  read<S>(slice: Slice<S>): S;
  /** Passes an event to the slices. Throws and changes nothing if a reducer throws or a call is running. */
  dispatch<E extends SessionEvent>(event: E): void;
  /**
   * Calls the listener for committed events, and for every call's end as `ToolInvoked`. Returns a function that
   * unsubscribes.
   */
  subscribe(type: 'ToolInvoked', listener: (event: ToolInvoked) => void): () => void;
  subscribe<E extends SessionEvent>(type: E['type'], listener: (event: E) => void): () => void;
  /** Keeps a reference: it takes the same time at any size. */
  snapshot(): Snapshot;
  /** Returns to a snapshot of this session. `log` slices keep their entries. */
  restore(snapshot: Snapshot): void;
  /** Registers slices in their initial state, if they are not registered yet. */
  register(...slices: readonly AnySlice[]): void;
  readonly resources: Resources;
  readonly filesystem: Filesystem;
  toJSON(): SessionJson;
  /** Disposes of the resources. The session refuses calls afterwards. */
  dispose(): Promise<void>;
}
