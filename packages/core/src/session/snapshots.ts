import { SessionError } from '../errors.ts';
import type { Root } from './root.ts';
import type { SharedState } from './shared-state.ts';

/** A saved point of a session. Opaque. */
export interface Snapshot {
  readonly kind: 'session-snapshot';
}

const saved = new WeakMap<Snapshot, { readonly root: Root; readonly shared: SharedState }>();

/** Keeps a reference to the root: nothing is copied, whatever its size. */
export function takeSnapshot(root: Root, shared: SharedState): Snapshot {
  const snapshot: Snapshot = Object.freeze({ kind: 'session-snapshot' });
  saved.set(snapshot, { root, shared });
  return snapshot;
}

export function rootOf(snapshot: Snapshot, shared: SharedState): Root {
  const known = saved.get(snapshot);
  if (known?.shared === shared) return known.root;
  throw new SessionError('restore() takes a snapshot that this very session made.');
}
