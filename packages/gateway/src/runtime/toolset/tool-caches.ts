import { isToolResult, type Middleware, type MiddlewareCall } from '@lastcall/core';
import { LRUCache } from 'lru-cache';
import { canonicalJson } from '../../ports/store/schema/json.ts';

export interface CacheSettings {
  readonly ttlMs: number;
  readonly maxEntries?: number | undefined;
}

/** The cache of one agent, as configured. */
export interface CacheOwner extends CacheSettings {
  readonly agentId: string;
  /** Calls of tools with effects always run; only others are answered from the cache. */
  readonly isWithoutEffects: (toolName: string) => boolean;
  /** Two versions of a tool do not share results. */
  readonly versionOf?: ((toolName: string) => string) | undefined;
  /** Called for each call that is answered from the cache. */
  readonly onHit?: ((callId: string, hit: { readonly storedAt: number }) => void) | undefined;
}

type Results = LRUCache<string, { readonly value: unknown; readonly storedAt: number }>;

// Together with the size limit of each cache, this bounds the memory: 100 million characters.
const MOST_AGENTS = 100;
const MOST_CHARACTERS = 1_000_000;

/** The results that agents' `cache` middleware keeps from one run to the next, in this process. */
export class ToolCaches {
  readonly #ofAgents = new LRUCache<string, Results>({ max: MOST_AGENTS });
  readonly #clock: { now(): number };

  constructor({ clock = performance }: { clock?: { now(): number } } = {}) {
    this.#clock = clock;
  }

  middleware({ isWithoutEffects, versionOf, onHit, ...owner }: CacheOwner): Middleware {
    const results = this.#of(owner);
    return {
      name: 'cache',
      async call(next, call) {
        const { callId, toolName } = call;
        const key = isWithoutEffects(toolName) ? keyOf(call, versionOf?.(toolName)) : undefined;
        const known = key === undefined ? undefined : results.get(key);
        if (known !== undefined) {
          onHit?.(callId, { storedAt: known.storedAt });
          return known.value;
        }
        const value = await next();
        const isError = isToolResult(value) && value.status !== 'ok';
        if (key !== undefined && !isError) results.set(key, { value, storedAt: Date.now() });
        return value;
      },
    };
  }

  /** Other settings use a new cache. The old one is no longer used, and is evicted later. */
  #of({ agentId, ttlMs, maxEntries = 1_000 }: CacheSettings & Pick<CacheOwner, 'agentId'>): Results {
    const name = JSON.stringify([agentId, ttlMs, maxEntries]);
    const known = this.#ofAgents.get(name);
    if (known !== undefined) return known;
    const made: Results = new LRUCache({
      max: maxEntries,
      ttl: ttlMs,
      ttlResolution: 0,
      maxSize: MOST_CHARACTERS,
      sizeCalculation: ({ value }, key) => key.length + (JSON.stringify(value)?.length ?? 0),
      perf: this.#clock,
    });
    this.#ofAgents.set(name, made);
    return made;
  }
}

/** The order of an object's keys does not matter. Inputs are JSON, because a model wrote them. */
function keyOf({ toolName, input }: MiddlewareCall, version = ''): string {
  return `${toolName} ${version} ${canonicalJson(input)}`;
}
