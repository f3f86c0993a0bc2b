import { ApiError } from '../../domain/api-error.ts';
import { takeRequest } from '../../domain/keys/key-rate.ts';
import type { Store } from '../../ports/store/store.ts';
import type { Caller, KeyCaller, SessionCaller } from '../caller.ts';

type RatedCaller = KeyCaller | SessionCaller;

/**
 * Counts one request of a key that has a rate limit, and of browsers that signed in with it. It counts in a separate transaction: a
 * request that fails counts too, and requests of one key do not wait for each other. Keys without a limit cost nothing.
 */
export class RequestRate {
  readonly #store: Store;
  #isCounted = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Throws 429 if the key has used up its requests. */
  async count(caller: Caller | undefined): Promise<void> {
    if (caller === undefined || !isRated(caller)) return;
    const { rate, keyId = '' } = caller;
    if (rate === undefined) return;
    const retryAfter = await this.#store.transaction((tx) => takeRequest(tx, keyId, rate), { isUrgent: true });
    this.#isCounted = true;
    if (retryAfter === undefined) return;
    const { requests, seconds } = rate;
    throw new ApiError(
      'rate_limited',
      `This key may send ${requests} requests in ${seconds} seconds. Try again later.`,
      {
        details: { requests, seconds },
        retryAfter,
      },
    );
  }

  /** For a caller who was not known before the transaction of the request: it has to be counted outside of it. */
  assertCounted(caller: Caller): void {
    if (isRated(caller) && !this.#isCounted) throw new UncountedRequest(caller);
  }
}

/** The request has to be counted, and repeated. */
export class UncountedRequest extends Error {
  readonly caller: Caller;

  constructor(caller: Caller) {
    super('The request was not counted.');
    this.caller = caller;
  }
}

function isRated(caller: Caller): caller is RatedCaller {
  return 'view' in caller && caller.rate !== undefined && caller.keyId !== undefined;
}
