import { SessionError } from '../errors.ts';
import { type KnownNames, knownNames, unknownName } from '../unknown-option.ts';
import { deepFreeze } from './deep-freeze.ts';

/** An event of a session. The fields beside `type` belong to the event. */
export interface SessionEvent {
  readonly type: string;
}

/** A reducer: the state after an event. Pure; it returns new state and never changes the old. */
export type Reducer<S> = {
  // Written as a method so that a reducer may name the exact event it takes: `(state, event: Added) => …`.
  reduce(state: S, event: SessionEvent): S;
}['reduce'];

/** Converts state that was stored with an older version to the current shape. */
type Migrate<S> = {
  // Written as a method, so that it may name the exact shape that it takes.
  migrate(state: unknown, fromVersion: number): S;
}['migrate'];

/** A named part of a session's state and how events change it. */
export interface Slice<S, Name extends string = string> {
  readonly name: Name;
  readonly initial: S;
  /** `state` is rolled back with a failed call; `log` keeps its entries, also those of failed calls. */
  readonly policy: 'state' | 'log';
  /** The version of the state's shape. */
  readonly version: number;
  /** Converts state of an older version to this one. Without it, stored state of another version is refused. */
  readonly migrate?: Migrate<S>;
  readonly on: { readonly [eventType: string]: Reducer<S> };
}

/** A slice whose state's type does not matter here. */
export interface AnySlice extends Pick<Slice<unknown>, 'name' | 'initial' | 'policy' | 'version'> {
  readonly migrate?: (state: never, fromVersion: number) => unknown;
  readonly on: { readonly [eventType: string]: (state: never, event: never) => unknown };
}

export interface SliceDefinition<S> {
  initial: S;
  policy?: 'state' | 'log';
  /** Default 1. */
  version?: number;
  /** Converts state of an older version to this one. */
  migrate?: Migrate<S>;
  on: { [eventType: string]: Reducer<S> };
}

/**
 * Defines a slice. The state must be plain data (what JSON can hold), so that a session can be stored. With `slice<S>(…)`
 * the type of the name is `string`; without a type argument it is the name itself.
 */
export function slice<S, Name extends string = string>(name: Name, definition: SliceDefinition<S>): Slice<S, Name> {
  assertSliceName(name);
  const unknown = unknownName(definition, FIELDS);
  if (unknown !== undefined) throw new SessionError(`Slice "${name}": ${unknown.field} ${unknown.problem}`);
  const { policy = 'state', version = 1, migrate } = definition;
  if (policy !== 'state' && policy !== 'log') {
    throw new SessionError(`Slice "${name}": policy must be 'state' or 'log', not ${JSON.stringify(policy)}.`);
  }
  if (!Number.isInteger(version)) throw new SessionError(`Slice "${name}": version must be a whole number.`);
  if (migrate !== undefined && typeof migrate !== 'function')
    throw new SessionError(`Slice "${name}": migrate must be a function (state, fromVersion) => state.`);
  const initial = deepFreeze(definition.initial, undefined);
  const made = { name, initial, policy, version, on: toReducers(name, definition.on) };
  return Object.freeze(migrate === undefined ? made : { ...made, migrate });
}

const FIELDS: KnownNames = knownNames<SliceDefinition<unknown>>(
  { initial: true, policy: true, version: true, migrate: true, on: true },
  { initialState: 'initial', reducers: 'on', upgrade: 'migrate' },
);

// Slices that this package defines itself, by name: a stored session may hold one that is in no list.
const builtIn = new Map<string, AnySlice>();

/** Defines a slice of this package. */
export function builtInSlice<S>(name: string, definition: SliceDefinition<S>): Slice<S> {
  const made = slice(name, definition);
  builtIn.set(name, made);
  return made;
}

export function builtInNamed(name: string): AnySlice | undefined {
  return builtIn.get(name);
}

const unrecorded = new WeakSet<AnySlice>();

/** No journal gets this slice: its owner sets it anew before each turn. */
export function leaveUnrecorded(slice: AnySlice): void {
  unrecorded.add(slice);
}

export function isUnrecorded(slice: AnySlice): boolean {
  return unrecorded.has(slice);
}

function assertSliceName(name: string): void {
  if (typeof name !== 'string' || !/^[\w.-]{1,64}$/.test(name)) {
    throw new SessionError(`A slice's name is 1–64 letters, digits, "_", "-" or ".", not ${JSON.stringify(name)}.`);
  }
}

function toReducers<S>(name: string, on: SliceDefinition<S>['on']): Slice<S>['on'] {
  if (typeof on !== 'object' || on === null)
    throw new SessionError(`Slice "${name}": on must be an object of reducers.`);
  // Without a prototype, so that an event of type "constructor" finds nothing.
  const reducers: Record<string, Reducer<S>> = Object.create(null);
  for (const [type, reducer] of Object.entries(on)) {
    if (typeof reducer !== 'function') throw new SessionError(`Slice "${name}": on.${type} must be a function.`);
    reducers[type] = reducer;
  }
  return Object.freeze(reducers);
}
