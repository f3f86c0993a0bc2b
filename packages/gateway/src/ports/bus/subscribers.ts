import type { Logger } from '@lastcall/core';
import type { StreamEvent, StreamNotice } from './bus.ts';

type Listener = (notice: StreamNotice) => void;

/** The subscriptions of this process. */
export class Subscribers {
  readonly #byStream = new Map<string, Set<{ readonly listener: Listener }>>();
  readonly #logger: Logger | undefined;

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  get streams(): readonly string[] {
    return [...this.#byStream.keys()];
  }

  add(stream: string, listener: Listener): () => void {
    // The listener is wrapped in a new object, because the same function may subscribe twice and each subscription ends
    // separately.
    const subscription = { listener };
    const known = this.#byStream.get(stream);
    if (known === undefined) this.#byStream.set(stream, new Set([subscription]));
    else known.add(subscription);
    return () => this.#remove(stream, subscription);
  }

  notify(notice: StreamNotice): void {
    const subscriptions = this.#byStream.get(notice.stream);
    // Loops over a copy: a subscription that is added during the loop starts with the next notice.
    for (const subscription of [...(subscriptions ?? [])])
      if (subscriptions?.has(subscription) === true) this.#notifyOne(subscription.listener, notice);
  }

  #remove(stream: string, subscription: { readonly listener: Listener }): void {
    const known = this.#byStream.get(stream);
    known?.delete(subscription);
    if (known?.size === 0) this.#byStream.delete(stream);
  }

  #notifyOne(listener: Listener, notice: StreamNotice): void {
    try {
      listener(notice);
    } catch (error) {
      this.#logger?.error(`A listener to ${notice.stream} threw. The others were called.`, error);
    }
  }
}

export function toNotice(event: StreamEvent): StreamNotice {
  return { stream: event.stream, seq: event.seq, event };
}
