import type { Clock } from '../clock.ts';
import { consoleLogger, systemClock } from '../defaults.ts';
import { SessionError } from '../errors.ts';
import { isPromise } from '../is-promise.ts';
import type { Logger } from '../logger.ts';
import { DISPOSE_MS, disposeResources } from './dispose-resources.ts';
import type { AnyResource, Resource, Resources } from './resource.ts';

/** The resources with scope 'shared' of all sessions that were given this object. */
export interface SharedResources {
  /** Disposes of them, newest first. Later requests are refused. */
  dispose(): Promise<void>;
}

interface SharedResourcesOptions {
  /** Default: warnings and errors to the console. */
  readonly logger?: Logger;
  readonly clock?: Clock;
}

/** Makes a place for shared resources: one for a process, or for a part of it that ends on its own. */
export function sharedResources(options: SharedResourcesOptions = {}): SharedResources {
  return new SharedScope(options);
}

/**
 * Each resource is created once, by the first request, even if many sessions request it at the same time. One whose creation fails is
 * forgotten, so that the next request creates another. They are found by definition: two definitions may have the same key.
 */
export class SharedScope implements SharedResources {
  readonly #created = new Map<AnyResource, unknown>();
  readonly #creating: AnyResource[] = [];
  readonly #logger: Logger;
  readonly #clock: Clock;
  #isDisposed = false;

  constructor({ logger = consoleLogger, clock = systemClock }: SharedResourcesOptions) {
    this.#logger = logger;
    this.#clock = clock;
  }

  static of(given: SharedResources): SharedScope {
    if (given instanceof SharedScope) return given;
    throw new SessionError('shared: must come from sharedResources().');
  }

  get(resource: AnyResource): unknown {
    if (this.#isDisposed)
      throw new SessionError(`Resource "${resource.key}" was requested after the shared resources were disposed of.`);
    if (this.#created.has(resource)) return this.#created.get(resource);
    if (this.#creating.includes(resource)) {
      const circle = [...this.#creating, resource].map(({ key }) => key).join(' → ');
      throw new SessionError(`Resources need each other in a circle: ${circle}.`);
    }
    const value = this.#create(resource);
    this.#created.set(resource, value);
    if (isPromise(value)) value.then(undefined, () => this.#forget(resource, value));
    return value;
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const all = Array.from(this.#created, ([resource, value]) => ({ resource, value }));
    this.#created.clear();
    await disposeResources(all, { logger: this.#logger, clock: this.#clock, withinMs: DISPOSE_MS });
  }

  #create(resource: AnyResource): unknown {
    const get = (wanted: Resource<unknown> | string): unknown => this.get(assertShared(wanted, resource));
    this.#creating.push(resource);
    try {
      return resource.create({ resources: { get } as Resources, logger: this.#logger });
    } finally {
      this.#creating.pop();
    }
  }

  #forget(resource: AnyResource, value: unknown): void {
    if (this.#created.get(resource) === value) this.#created.delete(resource);
  }
}

/** A shared resource outlives every session, so it must not hold anything that a session disposes of. */
function assertShared(wanted: AnyResource | string, maker: AnyResource): AnyResource {
  if (typeof wanted === 'object' && wanted.scope === 'shared') return wanted;
  const key = typeof wanted === 'string' ? wanted : wanted.key;
  throw new SessionError(
    `Resource "${maker.key}" is shared and can be made only from shared resources, by their definitions: "${key}" is not one.`,
  );
}
