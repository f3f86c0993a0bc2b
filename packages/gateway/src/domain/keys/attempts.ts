import { LRUCache } from 'lru-cache';
import { ApiError } from '../api-error.ts';

/** Wrong ones from one address in a minute. A person mistypes a key a few times; a program guesses for ever. */
const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;

/**
 * Limits how often wrong codes, keys and tokens come from one address. It is asked after the check, so that a right key counts at an
 * address that sends wrong ones too: many people may share it. Each gateway counts by itself, the last 10,000 addresses.
 */
export class Attempts {
  readonly #failures = new LRUCache<string, { count: number }>({ max: 10_000, ttl: WINDOW_MS });

  /** Counts a wrong one. Returns the error that it is answered with: `refusal`, or 429 once there were too many. */
  refuse(address: string, refusal: ApiError): ApiError {
    // In memory there is no address.
    if (address === '') return refusal;
    const failures = this.#failures.get(address) ?? { count: 0 };
    failures.count += 1;
    // The minute begins with the first one: a later one does not prolong it.
    if (failures.count === 1) this.#failures.set(address, failures);
    return failures.count > MAX_FAILURES ? this.#tooMany(address) : refusal;
  }

  #tooMany(address: string): ApiError {
    const message =
      'This code, key or token is not valid, and too many wrong ones came from your address. Check it, and try again later.';
    return new ApiError(429, 'too_many_attempts', message, {
      retryAfter: Math.max(1, this.#failures.getRemainingTTL(address) / 1_000),
    });
  }
}
