import { LRUCache } from 'lru-cache';
import { ApiError } from '../api-error.ts';

/** Wrong ones from one address in a minute. A person mistypes a key a few times; a program guesses for ever. */
const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;

/** Limits how often somebody at an address tries codes and keys that are wrong. Each gateway counts by itself. */
export class Attempts {
  readonly #failures = new LRUCache<string, { count: number }>({ max: 10_000, ttl: WINDOW_MS });

  /** Counts an attempt as failed until `succeeded` says otherwise: many at once would all find the count low. Throws 429. */
  begin(address: string): void {
    const failures = this.#failures.get(address) ?? { count: 0 };
    if (failures.count >= MAX_FAILURES)
      throw new ApiError(429, 'too_many_attempts', 'Too many wrong codes or keys came from this address.', {
        retryAfter: Math.max(1, this.#failures.getRemainingTTL(address) / 1_000),
      });
    failures.count += 1;
    // The minute begins with the first one: a later one does not prolong it.
    if (failures.count === 1) this.#failures.set(address, failures);
  }

  succeeded(address: string): void {
    const failures = this.#failures.get(address);
    if (failures !== undefined) failures.count -= 1;
  }
}
