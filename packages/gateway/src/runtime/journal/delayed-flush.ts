/** At most twenty flushes per second, and none while the run's own transactions write the queued events. */
const FLUSH_MS = 50;

/** Writes the queued events of spaces while a slow reply is still arriving. */
export class DelayedFlush {
  readonly #flush: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(flush: () => void) {
    this.#flush = flush;
  }

  schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, FLUSH_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
