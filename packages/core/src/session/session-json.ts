import { SessionError } from '../errors.ts';
import { deepFreeze } from './deep-freeze.ts';
import { type Root, slotNamed, withSlot } from './root.ts';
import { builtInNamed } from './slice.ts';

/** A session as plain data. */
export interface SessionJson {
  readonly version: 1;
  readonly slices: { readonly [name: string]: { readonly version: number; readonly state: unknown } };
}

export function rootToJson(root: Root): SessionJson {
  const slices: Record<string, { version: number; state: unknown }> = {};
  for (const { slice, state } of root) {
    const { name } = slice;
    assertJson(state, name, '');
    slices[name] = { version: slice.version, state };
  }
  return { version: 1, slices };
}

/** The root with the stored states in it. Everything is checked before anything is kept. */
export function restoreRoot(json: SessionJson | string, root: Root): Root {
  const stored = toSessionJson(json);
  let next = root;
  for (const [name, { version, state }] of Object.entries(stored.slices)) {
    const known = builtInNamed(name);
    const slot = slotNamed(root, name) ?? (known === undefined ? undefined : { slice: known, state: known.initial });
    if (slot === undefined)
      throw new SessionError(`The stored session has a slice "${name}" that is not among the slices given.`);
    if (slot.slice.version !== version) {
      throw new SessionError(
        `Slice "${name}" is stored in version ${version}, and its definition is version ${slot.slice.version}.`,
      );
    }
    // What reads it is ours, and takes it for what it is.
    if (known !== undefined && kindOf(state) !== kindOf(known.initial))
      throw new SessionError(`The stored state of slice "${name}" must be ${kindOf(known.initial)}.`);
    next = withSlot(next, { slice: slot.slice, state: deepFreeze(structuredClone(state), undefined) });
  }
  return next;
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
    return JSON.parse(text);
  } catch (cause) {
    throw new SessionError('The stored session is not JSON.', { cause });
  }
}

/** Refuses what JSON would lose, so that what is restored is what was stored. Fields that are undefined do no harm. */
function assertJson(value: unknown, slice: string, path: string): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (Array.isArray(value)) {
    value.forEach((item, index) => {
      assertJson(item, slice, `${path}[${index}]`);
    });
    return;
  }
  if (typeof value !== 'object') {
    const what = typeof value === 'number' ? String(value) : `a ${typeof value}`;
    throw new SessionError(`Slice "${slice}" cannot be stored: it holds ${what}${path === '' ? '' : ` at ${path}`}.`);
  }
  for (const [key, field] of Object.entries(value)) if (field !== undefined) assertJson(field, slice, `${path}.${key}`);
}
