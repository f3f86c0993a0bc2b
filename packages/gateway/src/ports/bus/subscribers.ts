import type { Logger } from '@lastcall/core';
import type { StreamEvent, StreamNotice } from './bus.ts';

type Listener = (notice: StreamNotice) => void;

/** The subscriptions of this process. */
export class Subscribers {
  readonly #byChannel = new Map<string, Set<{ readonly listener: Listener }>>();
  readonly #logger: Logger | undefined;

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  get channels(): readonly string[] {
    return [...this.#byChannel.keys()];
  }

  add(channel: string, listener: Listener): () => void {
    // The listener is wrapped in a new object, because the same function may subscribe twice and each subscription ends
    // separately.
    const subscription = { listener };
    const known = this.#byChannel.get(channel);
    if (known === undefined) this.#byChannel.set(channel, new Set([subscription]));
    else known.add(subscription);
    return () => this.#remove(channel, subscription);
  }

  notify(notice: StreamNotice): void {
    const subscriptions = this.#byChannel.get(notice.channel);
    // Loops over a copy: a subscription that is added during the loop starts with the next notice.
    for (const subscription of [...(subscriptions ?? [])])
      if (subscriptions?.has(subscription) === true) this.#notifyOne(subscription.listener, notice);
  }

  #remove(channel: string, subscription: { readonly listener: Listener }): void {
    const known = this.#byChannel.get(channel);
    known?.delete(subscription);
    if (known?.size === 0) this.#byChannel.delete(channel);
  }

  #notifyOne(listener: Listener, notice: StreamNotice): void {
    try {
      listener(notice);
    } catch (error) {
      this.#logger?.error(`A listener to ${notice.channel} threw. The others were called.`, error);
    }
  }
}

export function toNotice(event: StreamEvent): StreamNotice {
  return { channel: event.channel, seq: event.seq, event };
}
