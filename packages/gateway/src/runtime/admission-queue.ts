import { FairQueue } from '../ports/fair-queue.ts';

interface QueuedThread {
  readonly isUrgent: boolean;
  /** True for a thread that needs a slot; false for one that holds a slot already and waits for its next cycle. */
  readonly needsSlot: boolean;
  readonly admit: () => void;
}

export interface AdmissionQueueOptions {
  /** How many threads may hold a slot at once. */
  readonly slots: number;
  /** True while the store is saturated: the threads that run already keep it waiting. */
  isBusy(): boolean;
  /** Milliseconds since any moment, never going back. Default `performance.now`. */
  now?(): number;
}

/** How many threads are admitted in a row before the queue pauses and asks again whether the store keeps up. */
const BURST = 8;
const REFILL_MS = 2;
/** One more thread is admitted after this time, however busy the store is: work other than threads may keep it busy for ever. */
const MAX_WAIT_MS = 20;

/**
 * Limits how many threads run, and how fast they start: urgent threads (a person waits for them) first, the others as fast as the
 * store keeps up. If all started at once they would only wait for each other inside the store, and every later thread would wait
 * behind all of them.
 */
export class AdmissionQueue {
  readonly #isBusy: () => boolean;
  readonly #now: () => number;
  #freeSlots: number;
  readonly #queue = new FairQueue<QueuedThread>();
  #allowance = BURST;
  /** When the last thread that is not urgent was admitted. */
  #admittedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor({ slots, isBusy, now = () => performance.now() }: AdmissionQueueOptions) {
    this.#freeSlots = slots;
    this.#isBusy = isBusy;
    this.#now = now;
  }

  /** Resolves when the thread has a slot. The caller gives it back with `release`. */
  acquire(threadId: string, { isUrgent }: { isUrgent: boolean }): Promise<void> {
    return this.#enqueue(threadId, { needsSlot: true, isUrgent });
  }

  release(): void {
    this.#freeSlots++;
    this.#admitThreads();
  }

  /** Resolves when a thread that holds a slot may start its next cycle. */
  nextTurn(threadId: string, { isUrgent }: { isUrgent: boolean }): Promise<void> {
    return this.#enqueue(threadId, { needsSlot: false, isUrgent });
  }

  /** Makes a queued thread urgent. */
  prioritize(threadId: string): void {
    const queued = this.#queue.get(threadId);
    if (queued === undefined || queued.isUrgent) return;
    this.#queue.add({ ...queued, isUrgent: true }, threadId);
    this.#admitThreads();
  }

  /** Admits every thread, now and from now on. A worker that stops must not leave any thread waiting. */
  admitAll(): void {
    this.#freeSlots = Number.POSITIVE_INFINITY;
    this.#admitThreads();
    clearTimeout(this.#timer);
  }

  #enqueue(threadId: string, thread: Omit<QueuedThread, 'admit'>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue.add({ ...thread, admit: resolve }, threadId);
    this.#admitThreads();
    return promise;
  }

  #admitThreads(): void {
    for (let thread = this.#takeNext(); thread !== undefined; thread = this.#takeNext()) {
      if (thread.needsSlot) this.#freeSlots--;
      if (!thread.isUrgent) {
        this.#allowance--;
        this.#admittedAt = this.#now();
      }
      thread.admit();
    }
    if (this.#queue.hasOthers || this.#allowance < BURST)
      this.#timer ??= setTimeout(() => this.#refillAllowance(), REFILL_MS);
  }

  #takeNext(): QueuedThread | undefined {
    const mayAdmitOther = this.#queue.hasOthers && this.#mayAdmitOther();
    return this.#queue.take(
      ({ needsSlot, isUrgent }) => (isUrgent || mayAdmitOther) && (!needsSlot || this.#freeSlots > 0),
    );
  }

  #mayAdmitOther(): boolean {
    if (this.#freeSlots === Number.POSITIVE_INFINITY) return true;
    if (this.#allowance <= 0) return false;
    return !this.#isBusy() || this.#now() - this.#admittedAt > MAX_WAIT_MS;
  }

  #refillAllowance(): void {
    this.#timer = undefined;
    this.#allowance = BURST;
    this.#admitThreads();
  }
}
