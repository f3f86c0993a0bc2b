/** A thread in the queue. */
interface QueuedThread {
  /** True for a thread that needs a slot; false for one that holds a slot already and waits for its next cycle. */
  readonly needsSlot: boolean;
  readonly admit: () => void;
}

export interface AdmissionQueueOptions {
  /** How many threads may hold a slot at once. */
  readonly slots: number;
  /** True while the store is saturated: the threads that run already keep it waiting. */
  isBusy(): boolean;
}

/** How many threads are admitted in a row before the queue pauses and asks again whether the store keeps up. */
const BURST = 8;
const REFILL_MS = 2;
/** After this many urgent threads in a row, the last free slot goes to another thread: urgent ones may never stop coming. */
const MAX_URGENT_IN_A_ROW = 8;
/** One more thread is admitted after this time, however busy the store is: work other than threads may keep it busy for ever. */
const MAX_WAIT_MS = 20;

/**
 * Limits how many threads run, and how fast they start: urgent threads (a person waits for them) first, the others as fast as the
 * store keeps up. If all started at once they would only wait for each other inside the store, and every later thread would wait
 * behind all of them.
 */
export class AdmissionQueue {
  readonly #isBusy: () => boolean;
  #freeSlots: number;
  readonly #urgent = new Map<string, QueuedThread>();
  readonly #others = new Map<string, QueuedThread>();
  #allowance = BURST;
  #urgentInARow = 0;
  /** When the last thread that is not urgent was admitted. */
  #admittedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ slots, isBusy }: AdmissionQueueOptions) {
    this.#freeSlots = slots;
    this.#isBusy = isBusy;
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
    const queued = this.#others.get(threadId);
    if (queued === undefined) return;
    this.#others.delete(threadId);
    this.#urgent.set(threadId, queued);
    this.#admitThreads();
  }

  /** Admits every thread, now and from now on. A worker that stops must not leave anybody waiting. */
  admitAll(): void {
    this.#freeSlots = Number.POSITIVE_INFINITY;
    for (const queue of [this.#urgent, this.#others]) {
      for (const { admit } of queue.values()) admit();
      queue.clear();
    }
    clearTimeout(this.#timer);
  }

  #enqueue(threadId: string, { needsSlot, isUrgent }: { needsSlot: boolean; isUrgent: boolean }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    (isUrgent ? this.#urgent : this.#others).set(threadId, { needsSlot, admit: resolve });
    this.#admitThreads();
    return promise;
  }

  #admitThreads(): void {
    for (let isAdmitted = true; isAdmitted; ) {
      const isOthersTurn = this.#urgentInARow >= MAX_URGENT_IN_A_ROW && this.#others.size > 0 && this.#freeSlots <= 1;
      isAdmitted = this.#admitOne(isOthersTurn ? this.#others : this.#urgent);
      if (isAdmitted) this.#urgentInARow = isOthersTurn ? 0 : this.#urgentInARow + 1;
    }
    while (this.#others.size > 0 && this.#mayAdmitOther() && this.#admitOne(this.#others)) {
      this.#allowance--;
      this.#admittedAt = performance.now();
    }
    if (this.#others.size > 0 || this.#allowance < BURST)
      this.#timer ??= setTimeout(() => this.#refillAllowance(), REFILL_MS);
  }

  #mayAdmitOther(): boolean {
    if (this.#freeSlots === Number.POSITIVE_INFINITY) return true;
    if (this.#allowance <= 0) return false;
    return !this.#isBusy() || performance.now() - this.#admittedAt > MAX_WAIT_MS;
  }

  #refillAllowance(): void {
    this.#timer = undefined;
    this.#allowance = BURST;
    this.#admitThreads();
  }

  /** Admits the first thread of the queue that can go: one that holds a slot already needs no free one. */
  #admitOne(queue: Map<string, QueuedThread>): boolean {
    for (const [threadId, { needsSlot, admit }] of queue) {
      if (needsSlot && this.#freeSlots <= 0) continue;
      queue.delete(threadId);
      if (needsSlot) this.#freeSlots--;
      admit();
      return true;
    }
    return false;
  }
}
