import type { StreamEvent, StreamNotice } from './bus.ts';
import { toNotice } from './subscribers.ts';

/** Between one sending and the next. What comes after a pause goes at once. */
const PAUSE_MS = 20;
/** After a sending that failed, unless a new connection comes first. */
const RETRY_MS = 1_000;
/** What may wait as it is. Beyond it one reference a channel stands for all that is there to read. */
const MOST_WAITING = 1_000;

/** Gathers what is to be told to other gateways, and sends it in batches. While it cannot be sent it waits, and stays small. */
export class Outbox {
  readonly #send: (notices: readonly StreamNotice[]) => Promise<void>;
  #waiting: StreamNotice[] = [];
  #most = MOST_WAITING;
  #state: 'closed' | 'idle' | 'sending' | 'resting' = 'closed';
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(send: (notices: readonly StreamNotice[]) => Promise<void>) {
    this.#send = send;
  }

  add(events: readonly StreamEvent[]): void {
    for (const event of events) this.#waiting.push(toNotice(event));
    if (this.#waiting.length > this.#most) this.#shrink();
    this.#flush();
  }

  /** There is a connection to send on. */
  open(): void {
    if (this.#state === 'sending') return;
    clearTimeout(this.#timer);
    this.#state = 'idle';
    this.#flush();
  }

  /** Sends what is left, if it can. */
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
    this.#sending = this.#sendBatch().then((sent) => this.#rest(sent ? PAUSE_MS : RETRY_MS));
  }

  async #sendBatch(): Promise<boolean> {
    const batch = this.#waiting;
    this.#waiting = [];
    try {
      await this.#send(batch);
      this.#most = MOST_WAITING;
      return true;
    } catch {
      // It may have been sent or not: once more is harmless, never is not.
      this.#waiting = [...batch, ...this.#waiting];
      return false;
    }
  }

  #rest(ms: number): void {
    if (this.#state !== 'sending') return;
    this.#state = 'resting';
    this.#timer = setTimeout(() => this.open(), ms);
  }

  #shrink(): void {
    const highest = new Map<string, number>();
    for (const { channel, seq } of this.#waiting) highest.set(channel, Math.max(seq, highest.get(channel) ?? 0));
    this.#waiting = [...highest].map(([channel, seq]) => ({ channel, seq }));
    // Not at every event, where there are many channels.
    this.#most = Math.max(MOST_WAITING, 2 * this.#waiting.length);
  }
}
