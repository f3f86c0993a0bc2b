import { SliceVersionError } from '../errors.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { AnySlice } from './slice.ts';

/** A stored slice, unchanged. */
export interface StoredSlice {
  readonly version: number;
  /** Absent for `state`. */
  readonly policy?: 'log';
  readonly state: unknown;
}

const unclaimed = new WeakSet<AnySlice>();

/**
 * A placeholder for a stored slice whose definition no code has given yet. It has no reducers: its state stays as it
 * was stored, until the definition claims it.
 */
export function unclaimedSlice(name: string, { version, policy }: Omit<StoredSlice, 'state'>): AnySlice {
  const made: AnySlice = Object.freeze({
    name,
    version,
    policy: policy ?? 'state',
    initial: undefined,
    on: NO_REDUCERS,
  });
  unclaimed.add(made);
  return made;
}

const NO_REDUCERS: AnySlice['on'] = Object.freeze(Object.create(null));

export function isUnclaimed(slice: AnySlice): boolean {
  return unclaimed.has(slice);
}

/** The stored state, converted to the version of the definition. Throws a SliceVersionError if that fails. */
export function claimState(slice: AnySlice, { version, state }: Pick<StoredSlice, 'version' | 'state'>): unknown {
  if (slice.version === version) return state;
  const { name, migrate } = slice;
  if (version > slice.version || migrate === undefined)
    throw new SliceVersionError({ name, stored: version, defined: slice.version });
  try {
    const migrated = migrate(state as never, version);
    if (migrated === undefined) throw new TypeError('migrate returned nothing.');
    return deepFreeze(migrated, undefined);
  } catch (cause) {
    throw new SliceVersionError({ name, stored: version, defined: slice.version, cause });
  }
}
