import { SessionError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { type KnownNames, knownNames, unknownName } from '../unknown-option.ts';

/** Something a tool uses and did not make itself: a connection, a cache, a browser. `T` is what `create` returns. */
export interface Resource<T> {
  readonly key: string;
  readonly scope: ResourceScopeName;
  readonly create: (context: ResourceContext) => T;
  readonly snapshot?: (value: Awaited<T>) => unknown;
  readonly restore?: (value: Awaited<T>, saved: never) => void | Promise<void>;
  readonly dispose?: (value: Awaited<T>) => void | Promise<void>;
}

/** A resource whose type does not matter here. */
export interface AnyResource extends Pick<Resource<unknown>, 'key' | 'scope' | 'create'> {
  readonly snapshot?: (value: never) => unknown;
  readonly restore?: (value: never, saved: never) => void | Promise<void>;
  readonly dispose?: (value: never) => void | Promise<void>;
}

interface ResourceContext {
  readonly resources: Resources;
  readonly logger: Logger;
}

/** Gives access to resources: by definition, which gives their type, or by key. */
export interface Resources {
  /** The result of `create`, so a promise if `create` is asynchronous. */
  get<T>(resource: Resource<T>): T;
  get(key: string): unknown;
}

export interface ResourceDefinition<T, Saved> {
  /** How long it lives. Default 'singleton'. 'cycle' means 'singleton', and 'gateway' means 'shared'. */
  scope?: ResourceScopeName | keyof typeof SYNONYMS;
  create: (context: ResourceContext) => T;
  /** Saves what `restore` needs to undo a failed call. Taken when a call first requests the resource. */
  snapshot?: (value: Awaited<T>) => Saved;
  restore?: (value: Awaited<T>, saved: NoInfer<Saved>) => void | Promise<void>;
  dispose?: (value: Awaited<T>) => void | Promise<void>;
}

export function resource<T, Saved = unknown>(key: string, definition: ResourceDefinition<T, Saved>): Resource<T> {
  if (typeof key !== 'string' || key === '') throw new SessionError('A resource needs a key.');
  const unknown = unknownName(definition, FIELDS);
  if (unknown !== undefined) throw new SessionError(`Resource "${key}": ${unknown.field} ${unknown.problem}`);
  const { scope: given = 'singleton' } = definition;
  const scope = Object.hasOwn(SYNONYMS, given) ? SYNONYMS[given as keyof typeof SYNONYMS] : given;
  if (!SCOPES.includes(scope)) {
    throw new SessionError(
      `Resource "${key}": scope must be 'singleton', 'shared', 'call' or 'each', not ${JSON.stringify(scope)}.`,
    );
  }
  if (typeof definition.create !== 'function') throw new SessionError(`Resource "${key}": create must be a function.`);
  if ((definition.snapshot === undefined) !== (definition.restore === undefined)) {
    throw new SessionError(`Resource "${key}": snapshot and restore go together; one is missing.`);
  }
  // Other sessions use it at the same time, so no call can put it back to an earlier state.
  if (scope === 'shared' && definition.snapshot !== undefined)
    throw new SessionError(`Resource "${key}": a shared resource cannot have snapshot and restore.`);
  return Object.freeze({ ...definition, key, scope: scope as ResourceScopeName });
}

/**
 * - 'singleton': one per session
 * - 'shared': one for all sessions with the same `sharedResources()`
 * - 'call': one per call
 * - 'each': one per request
 */
type ResourceScopeName = 'singleton' | 'shared' | 'call' | 'each';

const SCOPES: readonly string[] = ['singleton', 'shared', 'call', 'each'];

/** The lifetimes of a gateway by their own names: a cycle is a run, which has one session. */
const SYNONYMS = { cycle: 'singleton', gateway: 'shared' } as const;

const FIELDS: KnownNames = knownNames<ResourceDefinition<unknown, unknown>>(
  { scope: true, create: true, snapshot: true, restore: true, dispose: true },
  { close: 'dispose', destroy: 'dispose', init: 'create', make: 'create', lifetime: 'scope' },
);
