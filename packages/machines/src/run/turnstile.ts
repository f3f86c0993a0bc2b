import { deferred } from '@lastcall/core/internal';

/** First come, first served, one at a time. */
export class Turnstile {
  #last: Promise<void> = Promise.resolve();
  #inside = 0;

  get isFree(): boolean {
    return this.#inside === 0;
  }

  /** Resolves with what lets the next one in. Giving up the wait is calling it when it comes. */
  async enter(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = deferred<void>();
    this.#last = promise;
    this.#inside++;
    await before;
    return () => {
      this.#inside--;
      resolve();
    };
  }

  /** Resolves when nobody is inside or in line. */
  async whenFree(): Promise<void> {
    while (!this.isFree) await this.#last;
  }
}
