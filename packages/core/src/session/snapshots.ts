import { SessionError } from '../errors.ts';
import type { Root } from './root.ts';
import type { SharedState } from './shared-state.ts';

/** A saved point of a session. Opaque. */
export interface Snapshot {
  readonly kind: 'session-snapshot';
}

/** What a snapshot keeps: references and no copies, at any size. */
interface Point {
  readonly root: Root;
  /** What a journal knew of the state. */
  readonly written: Root;
  readonly shared: SharedState;
}

const saved = new WeakMap<Snapshot, Point>();

export function takeSnapshot(point: Point): Snapshot {
  const snapshot: Snapshot = Object.freeze({ kind: 'session-snapshot' });
  saved.set(snapshot, point);
  return snapshot;
}

export function pointOf(snapshot: Snapshot, shared: SharedState): Point {
  const known = saved.get(snapshot);
  if (known?.shared === shared) return known;
  throw new SessionError('restore() takes a snapshot that this very session made.');
}
