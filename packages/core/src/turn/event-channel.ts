/**
 * Carries events from a turn to whoever reads them, a few at a time: a slow reader slows the turn. Where nobody reads, as
 * when only the result is awaited, events go nowhere and nothing waits.
 */
export class EventChannel<E> {
  readonly #events: E[] = [];
  #reader: 'none' | 'reading' | 'gone' = 'none';
  #closed = false;
  /** Several may wait on either side: tools that run side by side, and readers that ask ahead. */
  #readers: (() => void)[] = [];
  #writers: (() => void)[] = [];

  /** Somebody will read: from here on events are kept for them. */
  open(): void {
    if (this.#reader === 'none') this.#reader = 'reading';
  }

  /** Nobody will read any more. */
  leave(): void {
    this.#reader = 'gone';
    this.#events.length = 0;
    this.#wakeWriters();
    this.#wakeReaders();
  }

  push(event: E): void {
    if (this.#reader !== 'reading') return;
    this.#events.push(event);
    this.#wakeReaders();
  }

  /** Resolves when the reader has caught up; undefined where there is nothing to wait for. */
  ready(): Promise<void> | undefined {
    if (this.#reader !== 'reading' || this.#events.length < HIGH_WATER) return undefined;
    return new Promise((resolve) => this.#writers.push(resolve));
  }

  close(): void {
    this.#closed = true;
    this.#wakeReaders();
  }

  /** The next event; undefined after the last. */
  async next(): Promise<E | undefined> {
    while (this.#events.length === 0 && !this.#closed && this.#reader !== 'gone') {
      await new Promise<void>((resolve) => this.#readers.push(resolve));
    }
    const event = this.#events.shift();
    if (this.#events.length < HIGH_WATER) this.#wakeWriters();
    return event;
  }

  #wakeReaders(): void {
    for (const wake of this.#readers.splice(0)) wake();
  }

  #wakeWriters(): void {
    for (const wake of this.#writers.splice(0)) wake();
  }
}

// Enough that a reader in the same process never waits for the writer, little enough that memory stays bounded.
const HIGH_WATER = 64;
