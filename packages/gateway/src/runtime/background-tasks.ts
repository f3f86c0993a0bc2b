import type { Logger } from '@lastcall/core';
import { StoreUnavailable } from '../ports/store/store-error.ts';

/** Work that is repeated while the gateway runs. */
export class BackgroundTasks {
  readonly #logger: Logger;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * Repeats the work. Two runs never overlap, and an error never crashes the process. Returns a function that runs the
   * work once more at once.
   */
  repeat(ms: number, work: () => Promise<unknown>): () => Promise<void> {
    let isRunning = false;
    const tick = async (): Promise<void> => {
      if (isRunning) return;
      isRunning = true;
      try {
        await work();
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) this.#logger.error('A background task failed.', error);
      } finally {
        isRunning = false;
      }
    };
    this.#timers.push(setInterval(() => void tick(), ms));
    return tick;
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }
}
