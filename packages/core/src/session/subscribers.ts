import type { Logger } from '../logger.ts';
import type { SessionEvent } from './slice.ts';

type Listener = (event: never) => unknown;

/** The listeners of a session. An error that a listener throws is logged and changes nothing. */
export class Subscribers {
  readonly #byType = new Map<string, Set<Listener>>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  add(type: string, listener: Listener): () => void {
    const listeners = this.#byType.get(type) ?? new Set();
    this.#byType.set(type, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** Whether there is a listener for events of the type. */
  has(type: string): boolean {
    const listeners = this.#byType.get(type);
    return listeners !== undefined && listeners.size > 0;
  }

  tell(event: SessionEvent): void {
    const listeners = this.#byType.get(event.type);
    if (listeners === undefined) return;
    // A copy: a listener may unsubscribe while it is called.
    for (const listener of [...listeners]) this.#tellOne(listener, event);
  }

  #tellOne(listener: Listener, event: SessionEvent): void {
    const report = (error: unknown): void =>
      this.#logger.error(`A subscriber to "${event.type}" threw. The session is not affected.`, error);
    try {
      const answer = listener(event as never);
      if (answer instanceof Promise) answer.catch(report);
    } catch (error) {
      report(error);
    }
  }
}
