/** How often a server over HTTP is asked for its tools. A restart of the server can only be noticed this way. */
const POLL_MS = 5_000;
/** A list that could not be read is read again after this time. */
const RETRY_MS = 3_000;
/** The pause after a change, so that a server which changes its list all the time does not keep the gateway busy. */
const CHANGE_PAUSE_MS = 10_000;
/** Each change that follows soon doubles the pause, up to this limit. */
const LONGEST_PAUSE_MS = 600_000;

/**
 * Decides when a server's list is read. The first change after a quiet time is read at once, later ones after a pause,
 * which grows while the changes go on.
 */
export class ListPace {
  readonly #now: () => number;
  readonly #isPolled: boolean;
  #readAt: number | undefined;
  #failedAt: number | undefined;
  #changedAt = Number.NEGATIVE_INFINITY;
  #pauseMs = 0;
  #announced = 0;
  #demanded = 0;
  /** How many of each the last read has covered. */
  #covered = { announced: 0, demanded: 0 };

  constructor({ isPolled, now = () => performance.now() }: { isPolled: boolean; now?: () => number }) {
    this.#isPolled = isPolled;
    this.#now = now;
  }

  /** The server reports that its list has changed, or was reconnected. */
  announce(): void {
    this.#announced++;
  }

  /** Requests that the list is read now. */
  demand(): void {
    this.#demanded++;
  }

  /** Milliseconds until the list should be read: 0 for now, Infinity for never. */
  get waitMs(): number {
    if (this.#readAt === undefined || this.#demanded > this.#covered.demanded) return 0;
    return Math.max(0, this.#dueAt(this.#readAt) - this.#now());
  }

  /** True if the last attempt to read the list failed. */
  get hasFailed(): boolean {
    return this.#failedAt !== undefined;
  }

  /**
   * Call it before the list is read, and call the returned function when the read has ended. Changes that are announced
   * in between are read later.
   */
  begin(): (ended: 'same' | 'changed' | 'failed') => void {
    const covered = { announced: this.#announced, demanded: this.#demanded };
    return (ended) => {
      this.#failedAt = ended === 'failed' ? this.#now() : undefined;
      // A failed read also counts as an answer, so that a run does not wait for ever.
      this.#covered.demanded = covered.demanded;
      if (ended === 'failed') return;
      const isChange = ended === 'changed' || covered.announced > this.#covered.announced;
      if (this.#readAt !== undefined && isChange) this.#countChange();
      this.#covered = covered;
      this.#readAt = this.#now();
    };
  }

  #dueAt(readAt: number): number {
    if (this.#failedAt !== undefined) return this.#failedAt + RETRY_MS;
    const pauseEndsAt = this.#changedAt + this.#pauseMs;
    if (this.#announced > this.#covered.announced) return pauseEndsAt;
    return this.#isPolled ? Math.max(readAt + POLL_MS, pauseEndsAt) : Number.POSITIVE_INFINITY;
  }

  #countChange(): void {
    const isSoon = this.#now() - this.#changedAt < 2 * this.#pauseMs;
    this.#pauseMs = isSoon ? Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS) : CHANGE_PAUSE_MS;
    this.#changedAt = this.#now();
  }
}
