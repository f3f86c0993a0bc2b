import type { Filesystem } from '../files/filesystem.ts';
import type { Resources } from './resource.ts';
import type { SessionJson } from './session-json.ts';
import type { AnySlice, SessionEvent, Slice } from './slice.ts';
import type { Snapshot } from './snapshots.ts';
import type { ToolInvoked } from './tool-invoked.ts';

/** Typed state that calls change in transactions. */
export interface Session {
  read<S>(slice: Slice<S>): S;
  /** Tells the slices. Throws, with nothing changed, where a reducer throws or a call is running. */
  dispatch<E extends SessionEvent>(event: E): void;
  /** Is told of committed events, and of every call's end as `ToolInvoked`. Returns what ends the subscription. */
  subscribe(type: 'ToolInvoked', listener: (event: ToolInvoked) => void): () => void;
  subscribe<E extends SessionEvent>(type: E['type'], listener: (event: E) => void): () => void;
  /** Keeps a reference: the same time at any size. */
  snapshot(): Snapshot;
  /** Goes back to a snapshot of this session. `log` slices keep their entries. */
  restore(snapshot: Snapshot): void;
  /** Makes slices known, in their initial state, where they are not yet. */
  register(...slices: readonly AnySlice[]): void;
  readonly resources: Resources;
  readonly filesystem: Filesystem;
  toJSON(): SessionJson;
  /** Disposes of the resources. The session refuses calls afterwards. */
  dispose(): Promise<void>;
}
