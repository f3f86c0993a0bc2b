import type { Clock } from '../clock.ts';
import type { Middleware } from '../contract/middleware.ts';
import type { MiddlewareCall } from '../contract/middleware-for.ts';
import { systemClock } from '../defaults.ts';
import { OptionsError } from '../errors.ts';
import { assertKnownOptions, type KnownNames, knownNames } from '../unknown-option.ts';

export interface CacheOptions {
  ttlMs: number;
  /** The cache key of a call. Default: the tool and its input. Undefined: do not cache this call. */
  key?: (call: MiddlewareCall) => string | undefined;
  /** The maximum number of cached results; the oldest are removed first. Default 1,000. */
  maxEntries?: number;
  clock?: Clock;
}

const OPTIONS: KnownNames = knownNames<CacheOptions>(
  { ttlMs: true, key: true, maxEntries: true, clock: true },
  { ttl: 'ttlMs', maxAge: 'ttlMs', maxSize: 'maxEntries', max: 'maxEntries' },
);

/**
 * Returns a tool's earlier result, for a while. Only the results of calls that succeeded are cached. A call answered from the cache changes
 * nothing, so use it for tools without effects.
 */
export function cache(options: CacheOptions): Middleware {
  assertKnownOptions(options, OPTIONS);
  const { ttlMs, key = defaultKey, maxEntries = 1_000, clock = systemClock } = options;
  if (!(ttlMs > 0)) throw new OptionsError('ttlMs', 'must be a number of milliseconds above 0.');
  const kept = new Map<string, { readonly value: unknown; readonly until: number }>();
  /** Results of calls that have not settled yet, by call. */
  const returned = new Map<string, { readonly at: string; readonly value: unknown }>();
  return {
    name: 'cache',
    async call(next, call) {
      const at = key(call);
      const known = at === undefined ? undefined : kept.get(at);
      if (known !== undefined && clock.now() < known.until) return known.value;
      const value = await next();
      if (at !== undefined) returned.set(call.callId, { at, value });
      return value;
    },
    // A result counts when it has passed the output schema and the policies.
    outcome(outcome, { callId }) {
      const result = returned.get(callId);
      returned.delete(callId);
      if (result === undefined || outcome.status !== 'ok') return outcome;
      kept.delete(result.at);
      kept.set(result.at, { value: result.value, until: clock.now() + ttlMs });
      for (const oldest of kept.keys()) if (kept.size > maxEntries) kept.delete(oldest);
      return outcome;
    },
  };
}

/** Returns undefined if two different inputs could give the same text: a wrong result is worse than no cached one. */
function defaultKey({ toolName, input }: MiddlewareCall): string | undefined {
  try {
    return `${toolName} ${JSON.stringify(input, canonical)}`;
  } catch {
    return undefined;
  }
}

/** Fields in order, because models write the same arguments in any order. */
function canonical(key: string, value: unknown): unknown {
  const sound = refuseLoss(key, value);
  if (typeof sound !== 'object' || sound === null || Array.isArray(sound)) return sound;
  return Object.fromEntries(Object.entries(sound).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function refuseLoss(key: string, value: unknown): unknown {
  const isPlain = typeof value !== 'object' || value === null || Array.isArray(value) || isPlainObject(value);
  if (!isPlain || typeof value === 'function' || typeof value === 'symbol' || isNoNumber(value))
    throw new TypeError(`"${key}" is nothing that JSON can hold.`);
  return value;
}

function isNoNumber(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value);
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
