import type { StreamEvent, StreamNotice } from './bus.ts';
import { toNotice } from './subscribers.ts';

/** The pause between two batches. A notice that comes after the pause is sent immediately. */
const PAUSE_MS = 20;
/** The pause after a failed batch, unless a new connection comes first. */
const RETRY_MS = 1_000;
/** How many notices wait with their events. If there are more, they are replaced by one reference per stream. */
const MAX_WAITING = 1_000;

/**
 * Collects notices for the other gateways and sends them in batches. Notices that cannot be sent wait in bounded
 * memory.
 */
export class Outbox {
  readonly #send: (notices: readonly StreamNotice[]) => Promise<void>;
  #waiting: StreamNotice[] = [];
  #maxWaiting = MAX_WAITING;
  #state: 'closed' | 'idle' | 'sending' | 'paused' = 'closed';
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(send: (notices: readonly StreamNotice[]) => Promise<void>) {
    this.#send = send;
  }

  add(events: readonly StreamEvent[]): void {
    for (const event of events) this.#waiting.push(toNotice(event));
    if (this.#waiting.length > this.#maxWaiting) this.#shrink();
    this.#flush();
  }

  /** Called when a connection is open. */
  open(): void {
    if (this.#state === 'sending') return;
    clearTimeout(this.#timer);
    this.#state = 'idle';
    this.#flush();
  }

  /** Tries to send the remaining notices. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    clearTimeout(this.#timer);
    this.#state = 'closed';
    await this.#sending;
    if (this.#waiting.length > 0) await this.#sendBatch();
  }

  #flush(): void {
    if (this.#state !== 'idle' || this.#waiting.length === 0) return;
    this.#state = 'sending';
    this.#sending = this.#sendBatch().then((sent) => this.#pause(sent ? PAUSE_MS : RETRY_MS));
  }

  async #sendBatch(): Promise<boolean> {
    const batch = this.#waiting;
    this.#waiting = [];
    try {
      await this.#send(batch);
      this.#maxWaiting = MAX_WAITING;
      return true;
    } catch {
      // The batch may have been sent or not. Sending it twice is harmless; losing it is not.
      this.#waiting = [...batch, ...this.#waiting];
      return false;
    }
  }

  #pause(ms: number): void {
    if (this.#state !== 'sending') return;
    this.#state = 'paused';
    this.#timer = setTimeout(() => this.open(), ms);
  }

  #shrink(): void {
    const highest = new Map<string, number>();
    for (const { stream, seq } of this.#waiting) highest.set(stream, Math.max(seq, highest.get(stream) ?? 0));
    this.#waiting = [...highest].map(([stream, seq]) => ({ stream, seq }));
    // With many streams the limit grows, so that the queue is not shrunk again at every event.
    this.#maxWaiting = Math.max(MAX_WAITING, 2 * this.#waiting.length);
  }
}
