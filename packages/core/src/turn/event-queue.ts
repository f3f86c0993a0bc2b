/**
 * Carries events from a turn to a reader, a few at a time: a slow reader slows the turn. Without a reader, as when only
 * the result is awaited, events are dropped and nothing waits.
 */
export class EventQueue<E> {
  readonly #events: E[] = [];
  #reader: 'none' | 'reading' | 'gone' = 'none';
  #closed = false;
  /** Several may wait on either side: tools that run in parallel, and readers that request ahead. */
  readonly #readers: ((next: IteratorResult<E, undefined>) => void)[] = [];
  readonly #writers: (() => void)[] = [];

  /** A reader has started: events are kept for it from now on. */
  open(): void {
    if (this.#reader === 'none') this.#reader = 'reading';
  }

  /** The reader has left: events are dropped from now on. */
  leave(): void {
    this.#reader = 'gone';
    this.#events.length = 0;
    this.#wakeWriters();
    this.#endReaders();
  }

  /** A waiting reader gets the event immediately, so reading costs only one promise for each event. */
  push(event: E): void {
    if (this.#reader !== 'reading') return;
    const reader = this.#readers.shift();
    if (reader === undefined) this.#events.push(event);
    else reader({ done: false, value: event });
  }

  /** Resolves when the reader has caught up; undefined if there is nothing to wait for. */
  ready(): Promise<void> | undefined {
    if (this.#reader !== 'reading' || this.#events.length < HIGH_WATER) return undefined;
    return new Promise((resolve) => this.#writers.push(resolve));
  }

  close(): void {
    this.#closed = true;
    this.#endReaders();
  }

  /** The next event, or the end. */
  next(): Promise<IteratorResult<E, undefined>> {
    if (this.#events.length > 0) return Promise.resolve({ done: false, value: this.#take() });
    if (this.#closed || this.#reader === 'gone') return Promise.resolve(END);
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  #take(): E {
    const event = this.#events.shift() as E;
    if (this.#events.length < HIGH_WATER) this.#wakeWriters();
    return event;
  }

  #endReaders(): void {
    for (const end of this.#readers.splice(0)) end(END);
  }

  #wakeWriters(): void {
    if (this.#writers.length > 0) for (const wake of this.#writers.splice(0)) wake();
  }
}

const END: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

// Enough that a reader in the same process never waits for the writer, and small enough to bound memory.
const HIGH_WATER = 64;
