import { SessionError } from '../errors.ts';
import { parseJson } from '../parse-json.ts';
import { deepFreeze } from './deep-freeze.ts';
import { assertJson } from './json-state.ts';
import { type Root, type Slot, slotNamed, withSlot } from './root.ts';
import { builtInNamed } from './slice.ts';
import { claimState, type StoredSlice, unclaimedSlice } from './unclaimed.ts';

/** A session as plain data. */
export interface SessionJson {
  readonly version: 1;
  readonly slices: { readonly [name: string]: StoredSlice };
}

export function rootToJson(root: Root): SessionJson {
  const slices: Record<string, StoredSlice> = {};
  for (const { slice, state } of root) {
    const { name, version, policy } = slice;
    assertJson(state, name);
    slices[name] = { version, ...(policy === 'log' ? { policy } : {}), state };
  }
  return { version: 1, slices };
}

/**
 * What happens to a stored slice whose definition is missing: an error, or it is kept unchanged until the definition is
 * given.
 */
export type UnknownSlices = 'refuse' | 'keep';

/** The root with the stored states. Everything is checked before anything is kept. */
export function restoreRoot(json: SessionJson | string, root: Root, unknown: UnknownSlices): Root {
  const stored = toSessionJson(json);
  let next = root;
  for (const [name, one] of Object.entries(stored.slices)) next = withSlot(next, toSlot(name, one, { root, unknown }));
  return next;
}

function toSlot(
  name: string,
  { version, policy, state }: StoredSlice,
  { root, unknown }: { readonly root: Root; readonly unknown: UnknownSlices },
): Slot {
  const builtIn = builtInNamed(name);
  const slice = slotNamed(root, name)?.slice ?? builtIn;
  const own = deepFreeze(structuredClone(state), undefined);
  if (slice === undefined && unknown === 'keep')
    return { slice: unclaimedSlice(name, { version, ...(policy === 'log' ? { policy } : {}) }), state: own };
  if (slice === undefined)
    throw new SessionError(`The stored session has a slice "${name}" that is not among the slices given.`);
  const claimed = claimState(slice, { version, state: own });
  // Our own code reads this state and relies on its type.
  if (builtIn !== undefined && kindOf(claimed) !== kindOf(builtIn.initial))
    throw new SessionError(`The stored state of slice "${name}" must be ${kindOf(builtIn.initial)}.`);
  return { slice, state: claimed };
}

function kindOf(state: unknown): string {
  if (Array.isArray(state)) return 'an array';
  return typeof state === 'object' && state !== null ? 'an object' : `a ${typeof state}`;
}

function toSessionJson(json: SessionJson | string): SessionJson {
  const parsed: unknown = typeof json === 'string' ? parse(json) : json;
  const { version, slices } = (parsed ?? {}) as Partial<Record<keyof SessionJson, unknown>>;
  if (version !== 1) throw new SessionError(`A stored session has version 1, not ${JSON.stringify(version)}.`);
  if (typeof slices !== 'object' || slices === null) throw new SessionError('A stored session has an object "slices".');
  for (const [name, slot] of Object.entries(slices)) {
    const whole = typeof slot === 'object' && slot !== null && 'state' in slot && 'version' in slot;
    if (!whole) throw new SessionError(`The stored slice "${name}" must have "version" and "state".`);
  }
  return parsed as SessionJson;
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new SessionError('The stored session is not JSON.', { cause });
  }
}
