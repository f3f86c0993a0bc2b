import { deferred } from '@lastcall/core/internal';

/** First come, first served, one at a time. */
export class Turnstile {
  #last: Promise<void> = Promise.resolve();
  #inside = 0;

  get isFree(): boolean {
    return this.#inside === 0;
  }

  /** Resolves with a function that admits the next one. To give up the wait, call it once it resolves. */
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

  /** Resolves when no one is inside or waiting. */
  async whenFree(): Promise<void> {
    while (!this.isFree) await this.#last;
  }
}
