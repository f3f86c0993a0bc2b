import { FairQueue } from '../ports/fair-queue.ts';

/** Why a thread waits to start a run. */
export interface Wait {
  /** A person waits for it. */
  readonly isUrgent: boolean;
  /** It just had a run, and more events wait for it. */
  readonly hadTurn?: boolean;
}

/** The ranks of the queue. */
const [WOKEN_BY_PERSON, NEXT_FOR_PERSON, OTHER] = [0, 1, 2] as const;

interface QueuedThread extends Wait {
  readonly rank: typeof WOKEN_BY_PERSON | typeof NEXT_FOR_PERSON | typeof OTHER;
  /** True for a thread that needs a slot. False for one that already holds a slot and waits for its next run. */
  readonly needsSlot: boolean;
  readonly admit: () => void;
}

export interface AdmissionQueueOptions {
  /** How many threads may hold a slot at once. */
  readonly slots: number;
  /**
   * How many threads may be between their admission and the end of their first transaction, which claims their work.
   */
  readonly startsAtOnce: number;
  /** True while the store is saturated by the threads that already run. */
  isBusy(): boolean;
  /** Milliseconds from any starting point, never decreasing. Default `performance.now`. */
  now?(): number;
}

/** How many threads are admitted in a row before the queue pauses and asks again whether the store keeps up. */
const BURST = 8;
const REFILL_MS = 2;
/** One more thread is admitted after this time, even if the store is busy: other work may keep it busy for ever. */
const MAX_WAIT_MS = 20;

/**
 * Limits how many runs are active, and how fast they start. If all started at once, they would wait for each other inside
 * the store, where none can be given priority. So only a few start at a time, and the others wait here, in this order:
 *
 * 1. threads that a person woke: they had nothing to do until now
 * 2. threads that just had a run and have more for people: one run each, in turn
 * 3. all others, and only while the store keeps up
 *
 * So an agent that gets a single message does not wait for agents that have thousands, only for messages that came
 * before its own.
 */
export class AdmissionQueue {
  readonly #isBusy: () => boolean;
  readonly #startsAtOnce: number;
  readonly #now: () => number;
  #freeSlots: number;
  readonly #queue = new FairQueue<QueuedThread>({ ranks: 3 });
  #starting = 0;
  /** When the last thread was admitted. */
  #startedAt = Number.NEGATIVE_INFINITY;
  #allowance = BURST;
  /** When the last thread that is not urgent was admitted. */
  #admittedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor({ slots, startsAtOnce, isBusy, now = () => performance.now() }: AdmissionQueueOptions) {
    this.#freeSlots = slots;
    this.#startsAtOnce = startsAtOnce;
    this.#isBusy = isBusy;
    this.#now = now;
  }

  /**
   * Resolves when the thread has a slot. The caller must call `started` when it has claimed its work, and `release` at
   * the end.
   */
  acquire(threadId: string, { isUrgent, hadTurn = false }: Wait): Promise<void> {
    return this.#enqueue(threadId, { needsSlot: true, isUrgent, hadTurn });
  }

  /** Call it when an admitted thread has claimed its work, or found none. */
  started(): void {
    this.#starting--;
    this.#admitThreads();
  }

  /** True if threads wait for a slot. */
  get hasWaiting(): boolean {
    return this.#queue.size > 0;
  }

  release(): void {
    this.#freeSlots++;
    this.#admitThreads();
  }

  /** Resolves when a thread that holds a slot may start its next run. The caller must call `started`. */
  nextTurn(threadId: string, { isUrgent }: Wait): Promise<void> {
    return this.#enqueue(threadId, { needsSlot: false, isUrgent, hadTurn: true });
  }

  /** Makes a queued thread urgent. */
  prioritize(threadId: string): void {
    const queued = this.#queue.get(threadId);
    if (queued === undefined || queued.isUrgent) return;
    const wait = { ...queued, isUrgent: true };
    this.#queue.add({ ...wait, rank: rankOf(wait) }, threadId);
    this.#admitThreads();
  }

  /** Admits all threads, now and later. A worker that stops must not leave a thread waiting. */
  admitAll(): void {
    this.#freeSlots = Number.POSITIVE_INFINITY;
    this.#admitThreads();
    clearTimeout(this.#timer);
  }

  #enqueue(threadId: string, thread: Omit<QueuedThread, 'admit' | 'rank'>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue.add({ ...thread, rank: rankOf(thread), admit: resolve }, threadId);
    this.#admitThreads();
    return promise;
  }

  #admitThreads(): void {
    for (let thread = this.#takeNext(); thread !== undefined; thread = this.#takeNext()) {
      if (thread.needsSlot) this.#freeSlots--;
      this.#starting++;
      this.#startedAt = this.#now();
      if (!thread.isUrgent) {
        this.#allowance--;
        this.#admittedAt = this.#now();
      }
      thread.admit();
    }
    const isHeldUp = this.#queue.size > 0 && this.#starting >= this.#startsAtOnce;
    if (isHeldUp || this.#queue.has(OTHER) || this.#allowance < BURST)
      this.#timer ??= setTimeout(() => this.#refillAllowance(), REFILL_MS);
  }

  #takeNext(): QueuedThread | undefined {
    if (!this.#mayStart()) return undefined;
    const mayAdmitOther = this.#queue.has(OTHER) && this.#mayAdmitOther();
    return this.#queue.take(
      ({ needsSlot, isUrgent }) => (isUrgent || mayAdmitOther) && (!needsSlot || this.#freeSlots > 0),
    );
  }

  /** A claim may wait for a lock for seconds. In that case the others start one by one. */
  #mayStart(): boolean {
    if (this.#isOpen || this.#starting < this.#startsAtOnce) return true;
    return this.#now() - this.#startedAt > MAX_WAIT_MS;
  }

  get #isOpen(): boolean {
    return this.#freeSlots === Number.POSITIVE_INFINITY;
  }

  #mayAdmitOther(): boolean {
    if (this.#isOpen) return true;
    if (this.#allowance <= 0) return false;
    return !this.#isBusy() || this.#now() - this.#admittedAt > MAX_WAIT_MS;
  }

  #refillAllowance(): void {
    this.#timer = undefined;
    this.#allowance = BURST;
    this.#admitThreads();
  }
}

function rankOf({ isUrgent, hadTurn = false }: Wait): QueuedThread['rank'] {
  if (!isUrgent) return OTHER;
  return hadTurn ? NEXT_FOR_PERSON : WOKEN_BY_PERSON;
}
