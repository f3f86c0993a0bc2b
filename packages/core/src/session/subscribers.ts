import type { Logger } from '../logger.ts';
import type { SessionEvent } from './slice.ts';

type Listener = (event: never) => unknown;

/** Who wants to be told of events. A listener that throws is reported and changes nothing. */
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

  /** Whether anybody listens to events of the type. */
  has(type: string): boolean {
    const listeners = this.#byType.get(type);
    return listeners !== undefined && listeners.size > 0;
  }

  tell(event: SessionEvent): void {
    const listeners = this.#byType.get(event.type);
    if (listeners === undefined) return;
    // A copy: a listener may end its own subscription while it is told.
    for (const listener of [...listeners]) this.#tellOne(listener, event);
  }

  #tellOne(listener: Listener, event: SessionEvent): void {
    const report = (error: unknown): void =>
      this.#logger.error(`A subscriber to "${event.type}" threw. The call it was told of is not affected.`, error);
    try {
      const answer = listener(event as never);
      if (answer instanceof Promise) answer.catch(report);
    } catch (error) {
      report(error);
    }
  }
}
