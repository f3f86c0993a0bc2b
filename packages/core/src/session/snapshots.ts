import { SessionError } from '../errors.ts';
import type { Ground } from './ground.ts';
import type { Root } from './root.ts';
import type { Snapshot } from './session.ts';

const saved = new WeakMap<Snapshot, { readonly root: Root; readonly ground: Ground }>();

/** Keeps a reference to the root: nothing is copied, whatever its size. */
export function takeSnapshot(root: Root, ground: Ground): Snapshot {
  const snapshot: Snapshot = Object.freeze({ kind: 'session-snapshot' });
  saved.set(snapshot, { root, ground });
  return snapshot;
}

export function rootOf(snapshot: Snapshot, ground: Ground): Root {
  const known = saved.get(snapshot);
  if (known?.ground === ground) return known.root;
  throw new SessionError('restore() takes a snapshot that this very session made.');
}
