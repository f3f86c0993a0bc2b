/** Somebody in line. */
interface Waiting {
  /** Whether it takes a place, or has one already and is to go on. */
  readonly entering: boolean;
  readonly go: () => void;
}

/** What the store says of itself. */
export interface GateOptions {
  /** How many may be inside. */
  readonly places: number;
  /** Whether what is inside has the store to wait for already. */
  isBusy(): boolean;
}

/** How many go at once before anybody asks whether the store keeps up. */
const AT_ONCE = 8;
const LOOK_MS = 2;
/** Of those that are waited for; then one of the others goes, where a place is all there is. */
const MOST_AHEAD = 8;
/** However busy the store is, one more goes after this time: others than threads may keep it busy for ever. */
const LONGEST_MS = 20;

/**
 * Lets threads go: so many at a time, those that people wait for first, and the others as fast as the store keeps up. All at once would
 * only wait for each other inside, and whoever comes later would wait behind all of them.
 */
export class Gate {
  readonly #isBusy: () => boolean;
  #places: number;
  readonly #first = new Map<string, Waiting>();
  readonly #others = new Map<string, Waiting>();
  #allowance = AT_ONCE;
  /** How many of the first went one after the other. */
  #ahead = 0;
  #wentAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ places, isBusy }: GateOptions) {
    this.#places = places;
    this.#isBusy = isBusy;
  }

  /** Resolves when the thread has a place, which it gives back with `leave`. */
  enter(threadId: string, { isUrgent }: { isUrgent: boolean }): Promise<void> {
    return this.#wait(threadId, { entering: true, isUrgent });
  }

  leave(): void {
    this.#places++;
    this.#releaseThread();
  }

  /** Resolves when a thread that is inside is to go on. */
  goOn(threadId: string, { isUrgent }: { isUrgent: boolean }): Promise<void> {
    return this.#wait(threadId, { entering: false, isUrgent });
  }

  /** Somebody waits for it now, where it is in line. */
  hurry(threadId: string): void {
    const waiting = this.#others.get(threadId);
    if (waiting === undefined) return;
    this.#others.delete(threadId);
    this.#first.set(threadId, waiting);
    this.#releaseThread();
  }

  isWaiting(threadId: string): boolean {
    return this.#first.has(threadId) || this.#others.has(threadId);
  }

  /** Nobody waits any longer. */
  open(): void {
    this.#places = Number.POSITIVE_INFINITY;
    for (const line of [this.#first, this.#others]) {
      for (const { go } of line.values()) go();
      line.clear();
    }
    clearTimeout(this.#timer);
  }

  #wait(threadId: string, { entering, isUrgent }: { entering: boolean; isUrgent: boolean }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    (isUrgent ? this.#first : this.#others).set(threadId, { entering, go: resolve });
    this.#releaseThread();
    return promise;
  }

  #releaseThread(): void {
    for (let isGone = true; isGone; ) {
      // Those that are waited for may never end, and the places may be few.
      const isTheirTurn = this.#ahead >= MOST_AHEAD && this.#others.size > 0 && this.#places <= 1;
      isGone = isTheirTurn ? this.#letOneGo(this.#others) : this.#letOneGo(this.#first);
      if (isGone) this.#ahead = isTheirTurn ? 0 : this.#ahead + 1;
    }
    while (this.#others.size > 0 && this.#mayGo() && this.#letOneGo(this.#others)) {
      this.#allowance--;
      this.#wentAt = performance.now();
    }
    if (this.#others.size > 0 || this.#allowance < AT_ONCE) this.#timer ??= setTimeout(() => this.#look(), LOOK_MS);
  }

  #mayGo(): boolean {
    if (this.#places === Number.POSITIVE_INFINITY) return true;
    if (this.#allowance <= 0) return false;
    return !this.#isBusy() || performance.now() - this.#wentAt > LONGEST_MS;
  }

  #look(): void {
    this.#timer = undefined;
    this.#allowance = AT_ONCE;
    this.#releaseThread();
  }

  /** The first of the line that can: whoever is inside needs no place. */
  #letOneGo(line: Map<string, Waiting>): boolean {
    for (const [threadId, { entering, go }] of line) {
      if (entering && this.#places <= 0) continue;
      line.delete(threadId);
      if (entering) this.#places--;
      go();
      return true;
    }
    return false;
  }
}
