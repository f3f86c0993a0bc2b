import { LRUCache } from 'lru-cache';
import { ApiError } from '../api-error.ts';
import { atMost } from '../at-most.ts';

/** Failed attempts from one address in a minute. A person mistypes a key a few times; a program guesses for ever. */
const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;

/**
 * Limits how many wrong codes, keys and tokens one address may send. It is applied after the check, so that a valid key works
 * from an address that also sends wrong ones: many people may share it. Each gateway counts separately, for the last 10,000
 * addresses.
 */
export class Attempts {
  readonly #failures = new LRUCache<string, { count: number }>({ ...atMost(10_000), ttl: WINDOW_MS });

  /** Counts a failed attempt. Returns the error to send: `refusal`, or 429 after too many. */
  refuse(address: string, refusal: ApiError): ApiError {
    // Requests in memory have no address.
    if (address === '') return refusal;
    const failures = this.#failures.get(address) ?? { count: 0 };
    failures.count += 1;
    // The minute begins with the first attempt; later ones do not extend it.
    if (failures.count === 1) this.#failures.set(address, failures);
    return failures.count > MAX_FAILURES ? this.#tooMany(address) : refusal;
  }

  #tooMany(address: string): ApiError {
    const message =
      'This code, key or token is not valid, and your address has sent too many wrong ones. Check it, and try again later.';
    return new ApiError('too_many_attempts', message, {
      retryAfter: Math.max(1, this.#failures.getRemainingTTL(address) / 1_000),
    });
  }
}
