import type { Clock } from '../clock.ts';
import { RestoreFailed, SessionError, StaleCallError } from '../errors.ts';
import type { Filesystem } from '../files/filesystem.ts';
import { isPromise } from '../is-promise.ts';
import type { Logger } from '../logger.ts';
import type { Change } from '../results/changes.ts';
import { settlesWithin } from '../settles-within.ts';
import { DISPOSE_MS, disposeResources } from './dispose-resources.ts';
import type { AnyResource, Resource, Resources } from './resource.ts';
import { SharedScope } from './shared-resources.ts';

// A restore that hangs must not hang the call; this is far above what a normal one takes.
const RESTORE_MS = 30_000;
// After a timeout the call has to settle within 50 ms, so disposal continues in the background.
const HURRIED_DISPOSE_MS = 20;

interface Built {
  readonly resource: AnyResource;
  readonly value: unknown;
  /** The singletons it was made from: using it means using them too. */
  readonly uses: ReadonlySet<AnyResource>;
}

interface Saved {
  readonly built: Built;
  readonly value: unknown;
  readonly state: unknown;
}

/**
 * The resources of one call, or, at the bottom, of the session. A call's scope keeps what it built and what it must
 * restore; on commit that moves down one scope, on discard it is undone. Nested calls stack.
 */
export class ResourceScope implements Resources {
  readonly #below: ResourceScope | undefined;
  readonly #known: Map<string, AnyResource>;
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** Where shared resources are. Undefined if the session was given none: then they are the session's own. */
  readonly #shared: SharedScope | undefined;
  #ownShared: SharedScope | undefined;
  readonly #singletons = new Map<string, Built>();
  readonly #perCall = new Map<string, Built>();
  readonly #toDispose: Built[] = [];
  /** 'not yet' while the resource is being created: the tool never got it, so there is nothing to restore. */
  readonly #saved = new Map<string, Saved | 'not yet'>();
  readonly #saving = new Map<string, Promise<unknown>>();
  readonly #building: AnyResource[] = [];
  /** True for a call without effects: no snapshot is taken, because nothing will be restored. */
  readonly #readOnly: boolean;
  readonly #filesystem: (() => Filesystem) | undefined;
  #closed = false;

  constructor(options: {
    below?: ResourceScope;
    readOnly?: boolean;
    /** The resource with the key "filesystem" in this scope: the call's own files, not those below. */
    filesystem?: () => Filesystem;
    logger: Logger;
    clock: Clock;
    /** For the scope at the bottom. */
    shared?: SharedScope | undefined;
  }) {
    this.#shared = options.shared;
    this.#filesystem = options.filesystem;
    this.#readOnly = options.readOnly ?? false;
    this.#below = options.below;
    this.#known = options.below === undefined ? new Map() : options.below.#known;
    this.#logger = options.logger;
    this.#clock = options.clock;
  }

  register(resource: AnyResource): void {
    const known = this.#known.get(resource.key);
    if (known !== undefined && known !== resource) {
      throw new SessionError(
        `Two different resources have the key "${resource.key}". Rename one, or share one definition.`,
      );
    }
    this.#known.set(resource.key, resource);
  }

  has(key: string): boolean {
    return this.#known.has(key);
  }

  get<T>(resource: Resource<T>): T;
  get(key: string): unknown;
  get(wanted: AnyResource | string): unknown {
    if (this.#closed) throw new StaleCallError('A resource was asked for');
    const resource = typeof wanted === 'string' ? this.#known.get(wanted) : wanted;
    if (resource === undefined) throw new SessionError(this.#unknown(String(wanted)));
    this.register(resource);
    if (resource.key === 'filesystem' && this.#filesystem !== undefined) return this.#filesystem();
    return this.#obtain(resource);
  }

  /** Moves what the call built and saved to the scope below. Its own resources are disposed of. */
  async commit(): Promise<void> {
    this.#closed = true;
    const superfluous = this.#below === undefined ? [] : this.#handDown(this.#below);
    await this.#disposeOf([...superfluous, ...this.#toDispose], DISPOSE_MS);
  }

  /**
   * Restores what the call changed and disposes of what it built, newest first. With `hurry`, disposal is not awaited
   * for long.
   */
  async discard(options: { hurry: boolean }): Promise<void> {
    this.#closed = true;
    const failures: unknown[] = [];
    for (const saved of [...this.#saved.values()].reverse()) {
      if (saved !== 'not yet') await this.#putBack(saved).catch((error: unknown) => failures.push(error));
    }
    await this.#disposeOf(
      [...this.#singletons.values(), ...this.#toDispose],
      options.hurry ? HURRIED_DISPOSE_MS : DISPOSE_MS,
    );
    if (failures.length === 0) return;
    throw failures.length === 1
      ? failures[0]
      : new AggregateError(failures, 'Several resources could not be restored.');
  }

  /**
   * The functions that restore the resources this call changed and remove those it built, oldest first, for a rewind
   * that goes back further than the call.
   */
  undos(): readonly (() => Promise<void>)[] {
    return [
      ...[...this.#saved.values()]
        .filter((saved): saved is Saved => saved !== 'not yet')
        .map((saved) => () => this.#putBack(saved)),
      ...[...this.#singletons.values()].map((built) => async () => this.#below?.takeAway(built)),
    ];
  }

  /** The resources that this call may have changed: those that are restored if it fails. */
  changes(): readonly Change[] {
    return [...this.#saved]
      .filter(([, saved]) => saved !== 'not yet')
      .map(([name]) => ({ kind: 'resource', name, count: 1 }));
  }

  /** Removes a singleton, so that the next request creates a new one, and disposes of it. */
  async takeAway(built: Built): Promise<void> {
    if (this.#singletons.get(built.resource.key) !== built) return;
    this.#singletons.delete(built.resource.key);
    await this.#disposeOf([built], DISPOSE_MS);
  }

  /** Ends the session: disposes of its singletons. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#disposeOf([...this.#singletons.values()], DISPOSE_MS);
    this.#singletons.clear();
    await this.#ownShared?.dispose();
  }

  #obtain(resource: AnyResource): unknown {
    switch (resource.scope) {
      case 'singleton':
        return this.#obtainSingleton(resource);
      case 'shared':
        return this.#sharedScope().get(resource);
      case 'call':
        return (this.#perCall.get(resource.key) ?? this.#buildForCall(resource)).value;
      case 'each':
        return this.#buildForCall(resource).value;
    }
  }

  #obtainSingleton(resource: AnyResource): unknown {
    const own = this.#singletons.get(resource.key);
    if (own !== undefined) return own.value;
    const built = this.#findBelow(resource.key);
    if (built !== undefined) return this.#save(built);
    const fresh = this.#build(resource);
    this.#keep(fresh);
    return fresh.value;
  }

  #sharedScope(): SharedScope {
    if (this.#below !== undefined) return this.#below.#sharedScope();
    if (this.#shared !== undefined) return this.#shared;
    this.#ownShared ??= new SharedScope({ logger: this.#logger, clock: this.#clock });
    return this.#ownShared;
  }

  #findBelow(key: string): Built | undefined {
    const below = this.#below;
    return below === undefined ? undefined : (below.#singletons.get(key) ?? below.#findBelow(key));
  }

  #buildForCall(resource: AnyResource): Built {
    const built = this.#build(resource);
    if (resource.scope === 'call') {
      this.#perCall.set(resource.key, built);
      forgetIfRejected(built.value, () => this.#perCall.delete(resource.key));
    }
    this.#toDispose.push(built);
    return built;
  }

  #build(resource: AnyResource): Built {
    if (this.#building.includes(resource)) {
      throw new SessionError(
        `Resources need each other in a circle: ${[...this.#building, resource].map((one) => one.key).join(' → ')}.`,
      );
    }
    const uses = new Set<AnyResource>();
    const resources = { get: (wanted: AnyResource | string) => this.#use(wanted, { uses, by: resource }) } as Resources;
    this.#building.push(resource);
    try {
      return { resource, uses, value: resource.create({ resources, logger: this.#logger }) };
    } finally {
      this.#building.pop();
    }
  }

  #use(
    wanted: AnyResource | string,
    { uses, by }: { readonly uses: Set<AnyResource>; readonly by: AnyResource },
  ): unknown {
    const resource = typeof wanted === 'string' ? this.#known.get(wanted) : wanted;
    if (by.scope === 'singleton' && resource?.scope === 'call')
      throw new SessionError(
        `Resource "${by.key}" lives as long as the session, and cannot be made from "${resource.key}", which ends with its call.`,
      );
    const value = this.get(wanted as string);
    if (resource !== undefined) uses.add(resource);
    return value;
  }

  /** Takes the snapshot of a resource that existed before the call, and of all it was made from, once. */
  #save(built: Built): unknown {
    for (const used of built.uses) if (used.scope === 'singleton') this.#obtainSingleton(used);
    if (this.#readOnly || built.resource.snapshot === undefined) return built.value;
    if (!isPromise(built.value)) {
      if (!this.#saved.has(built.resource.key)) this.#saved.set(built.resource.key, takeSnapshot(built, built.value));
      return built.value;
    }
    return this.#saveLater(built, built.value);
  }

  #saveLater(built: Built, making: Promise<unknown>): Promise<unknown> {
    const { key } = built.resource;
    const known = this.#saving.get(key);
    if (known !== undefined) return known;
    this.#saved.set(key, 'not yet');
    const saving = making.then((value) => {
      this.#saved.set(key, takeSnapshot(built, value));
      return value;
    });
    this.#saving.set(key, saving);
    // If the snapshot fails, the tool never gets the resource, so there is nothing to restore.
    forgetIfRejected(saving, () => {
      this.#saved.delete(key);
      this.#saving.delete(key);
    });
    return saving;
  }

  /**
   * Moves what this scope built and saved to the scope below. Returns the resources that are not needed there, because
   * another call built them first, and those made from them, which cannot work once they are disposed of.
   */
  #handDown(below: ResourceScope): readonly Built[] {
    const all = [...this.#singletons.values()];
    const left = new Set(all.filter(({ resource }) => below.#singletons.has(resource.key)));
    // The loop also visits what is added while it runs.
    for (const { resource } of left) for (const built of all) if (built.uses.has(resource)) left.add(built);
    for (const built of all) if (!left.has(built)) below.#keep(built);
    const superfluous = all.filter((built) => left.has(built));
    // At the bottom nothing is undone any more. Above it the older snapshot is the one to restore.
    if (below.#below === undefined) return superfluous;
    for (const [key, saved] of this.#saved) {
      if (!below.#saved.has(key) && !below.#singletons.has(key)) below.#saved.set(key, saved);
    }
    return superfluous;
  }

  /** A resource whose creation fails is removed, so that the next access creates another. */
  #keep(built: Built): void {
    const { key } = built.resource;
    this.#singletons.set(key, built);
    forgetIfRejected(built.value, () => {
      if (this.#singletons.get(key) === built) this.#singletons.delete(key);
    });
  }

  async #putBack({ built, value, state }: Saved): Promise<void> {
    try {
      const restored = built.resource.restore?.(value as never, state as never);
      if (isPromise(restored) && !(await settlesWithin(this.#clock, RESTORE_MS, restored)))
        throw new Error(`restore took over ${RESTORE_MS} ms`);
    } catch (cause) {
      throw new RestoreFailed(`Resource "${built.resource.key}" could not be restored.`, { cause });
    }
  }

  #disposeOf(all: readonly Built[], withinMs: number): Promise<void> {
    return disposeResources(all, { clock: this.#clock, logger: this.#logger, withinMs });
  }

  #unknown(key: string): string {
    const known = [...this.#known.keys()].map((one) => `"${one}"`).join(', ');
    return `There is no resource "${key}". ${known === '' ? 'Give createSession its resources.' : `Known: ${known}.`}`;
  }
}

function takeSnapshot(built: Built, value: unknown): Saved {
  const state = built.resource.snapshot?.(value as never);
  if (isPromise(state)) {
    state.catch(() => {});
    throw new SessionError(
      `Resource "${built.resource.key}": snapshot must be synchronous, and it returned a promise.`,
    );
  }
  return { built, value, state };
}

function forgetIfRejected(value: unknown, forget: () => void): void {
  if (isPromise(value)) value.then(undefined, forget);
}
