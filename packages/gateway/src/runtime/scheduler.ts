import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '@lastcall/core';
import { FairQueue } from '../ports/fair-queue.ts';
import type { WakeOptions } from '../ports/store/store.ts';

/** What the scheduler needs of the worker and its store. */
export interface SchedulerWorker {
  /** How many threads may start at once. */
  readonly startsAtOnce: number;
  /** True while the store is saturated by the threads that already run. */
  isBusy(): boolean;
  /**
   * Claims a thread. Returns the work on it, which resolves when the thread is released, or undefined if there is
   * nothing to do. Neither may reject.
   */
  claim(threadId: string, options: ClaimOptions): Promise<(() => Promise<void>) | undefined>;
}

export interface ClaimOptions {
  /** A person waits for the thread. */
  readonly isUrgent: boolean;
  /** A person woke it and it had no run just now, so it goes ahead of threads that are claimed at the same time. */
  readonly isFirst: boolean;
  /** A sweep found it with an open run and without a holder. */
  readonly isAbandoned: boolean;
}

interface FoundOptions extends WakeOptions {
  readonly isAbandoned?: boolean;
}

export interface SchedulerOptions {
  /** How many threads may be claimed or held at once. */
  readonly slots: number;
  /** Its time never decreases. Default: the process's own. */
  readonly clock?: Pick<Clock, 'now' | 'sleep'>;
}

interface ScheduledThread {
  readonly id: string;
  state: 'waiting' | 'starting' | 'held' | 'next-turn';
  /** All wakes since its events were last read, as one: those events may be newer. `urgent`: a person waits for one. */
  wake: 'none' | 'woken' | 'urgent';
  hadRun: boolean;
  isAbandoned: boolean;
  rank: Rank;
  /** Resolves the promise that the thread waits for in the queue. */
  go: () => void;
  /** Resolves when the thread is forgotten. */
  readonly done: Promise<void>;
}

type Rank = typeof WOKEN_BY_PERSON | typeof NEXT_FOR_PERSON | typeof OTHER;
const [WOKEN_BY_PERSON, NEXT_FOR_PERSON, OTHER] = [0, 1, 2] as const;

/** How many threads of the last rank start before the store is asked again whether it keeps up, and how soon that is. */
const BURST = 8;
const BURST_MS = 2;
/** The store may be busy with other work for ever, and a claim may wait for a lock: after this time one more starts. */
const MAX_WAIT_MS = 20;

/**
 * Decides which thread goes next. A gateway has one scheduler. The store tells it which threads to wake after a commit,
 * and the worker which threads a sweep found. When a thread's turn has come, the worker claims it and runs its runs.
 *
 *                         its turn             claimed
 *     enqueue ──▶ waiting ────────▶ starting ─────────▶ held ──▶ released, or nothing to do:
 *                    ▲                 ▲                  │      forgotten, or woken meanwhile
 *                    │        its turn └─── next-turn ◀───┘                          │
 *                    └───────────────────────────────────────────────────────────────┘
 *
 * The order:
 *
 * 1. A thread that a person woke goes before a thread that just had a run and has more for people, and both go before
 *    all others.
 * 2. Threads of the same rank go in the order in which they began to wait, so threads with much to do take turns, one
 *    run each.
 * 3. After eight threads that went ahead of others, the oldest of the others goes.
 * 4. Threads that no person waits for go only while the store keeps up, but one of them goes every 20 ms in any case.
 *
 * So an agent that gets one message does not wait for agents that have thousands. Two limits hold for all threads:
 *
 * - At most `slots` threads are claimed or held.
 * - At most `startsAtOnce` threads are starting, which is until the transaction that reads their events has ended. More
 *   would wait for each other inside the store, where only threads of the first rank go ahead. If one takes longer than
 *   20 ms, one more may start.
 *
 * Wakes are only in memory, and may come twice or get lost with the process. A thread's work is in its inbox, its row
 * decides which worker holds it (lease/lease.ts), and the sweep finds every thread that has work and no worker
 * (find-runnable-threads.ts).
 */
export class Scheduler {
  readonly #clock: Pick<Clock, 'now' | 'sleep'>;
  readonly #threads = new Map<string, ScheduledThread>();
  /** The threads that are `waiting` or wait for their `next-turn`. */
  readonly #queue = new FairQueue<ScheduledThread>({ ranks: 3 });
  /** Undefined before the start. */
  #worker: SchedulerWorker | undefined;
  #isStopped = false;
  #freeSlots: number;
  #starting = 0;
  /** How many threads wait for their `next-turn`. */
  #nextTurns = 0;
  #lastStartAt = Number.NEGATIVE_INFINITY;
  /** Of threads of the last rank. */
  #lastOtherAt = Number.NEGATIVE_INFINITY;
  #burst: { readonly at: number; left: number } = { at: Number.NEGATIVE_INFINITY, left: 0 };
  #isStartDue = false;
  /** True if threads were left in the queue when turns were last given. */
  #isHeldUp = false;
  #isLookDue = false;

  constructor({ slots, clock = PROCESS_CLOCK }: SchedulerOptions) {
    this.#freeSlots = slots;
    this.#clock = clock;
  }

  /** Wakes the thread soon. Wakes until it reads its events become one; after a later one it looks for events again. */
  enqueue(threadId: string, { isUrgent }: WakeOptions = { isUrgent: false }): void {
    if (this.#isStopped) return;
    const thread = this.#threads.get(threadId);
    if (thread === undefined) {
      this.#add(threadId, isUrgent);
    } else if (!isUrgent) {
      if (thread.wake === 'none') thread.wake = 'woken';
    } else if (thread.wake !== 'urgent') {
      thread.wake = 'urgent';
      if (thread.state === 'waiting' || thread.state === 'next-turn') this.#queueUp(thread);
    }
  }

  /** Wakes a thread that a sweep found. One that is known here finds the same work by itself. */
  enqueueFound(threadId: string, { isUrgent, isAbandoned = false }: FoundOptions): void {
    const known = this.#threads.get(threadId);
    if (known === undefined || (isUrgent && known.wake !== 'none')) this.enqueue(threadId, { isUrgent });
    const thread = this.#threads.get(threadId);
    if (thread?.state === 'waiting') thread.isAbandoned = isAbandoned;
  }

  /** Starts to give turns, also to threads that were woken before. */
  start(worker: SchedulerWorker): void {
    this.#worker = worker;
    this.#startSoon();
  }

  /**
   * Claims no more threads and forgets those that wait. Held threads get their next turn at once, so that they can be
   * released. Resolves when all are.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#startThreads();
    await Promise.all([...this.#threads.values()].map(({ done }) => done));
  }

  /** True if threads wait although turns were given: the worker has more to do than it can. */
  get hasWaiting(): boolean {
    return this.#isHeldUp && this.#queue.size > 0;
  }

  /** Runs `read`, which reads the next events of a held thread, when its next turn has come. */
  async nextTurn<T>(threadId: string, read: () => Promise<T>): Promise<T> {
    return await this.#turn(this.#threads.get(threadId) as ScheduledThread, 'next-turn', read);
  }

  #add(id: string, isUrgent: boolean): void {
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const wake = isUrgent ? 'urgent' : 'woken';
    const [hadRun, isAbandoned] = [false, false];
    const thread: ScheduledThread = { id, state: 'waiting', wake, hadRun, isAbandoned, rank: OTHER, go: resolve, done };
    this.#threads.set(id, thread);
    this.#serve(thread).catch(warn).finally(resolve);
  }

  /** Does everything that there is to do for a thread. */
  async #serve(thread: ScheduledThread): Promise<void> {
    try {
      do await this.#serveOnce(thread);
      while (thread.wake !== 'none' && !this.#isStopped);
    } finally {
      this.#threads.delete(thread.id);
    }
  }

  async #serveOnce(thread: ScheduledThread): Promise<void> {
    try {
      const work = await this.#turn(thread, 'waiting', (isUrgent) => {
        const { id, rank, isAbandoned } = thread;
        thread.isAbandoned = false;
        return this.#claim(id, { isUrgent, isFirst: rank === WOKEN_BY_PERSON, isAbandoned });
      });
      if (work !== undefined) {
        thread.hadRun = true;
        await work();
      }
    } finally {
      this.#freeSlots++;
      // The others get the slot before this thread asks for it again.
      this.#startThreads();
    }
  }

  async #claim(threadId: string, options: ClaimOptions): Promise<(() => Promise<void>) | undefined> {
    return this.#isStopped ? undefined : await this.#worker?.claim(threadId, options);
  }

  async #turn<T>(
    thread: ScheduledThread,
    state: 'waiting' | 'next-turn',
    read: (isUrgent: boolean) => Promise<T>,
  ): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (state === 'next-turn') this.#nextTurns++;
    thread.state = state;
    thread.go = resolve;
    this.#queueUp(thread);
    await promise;
    const isUrgent = thread.wake === 'urgent';
    // The events of all wakes until now are read.
    thread.wake = 'none';
    try {
      return await read(isUrgent);
    } finally {
      thread.state = 'held';
      this.#starting--;
      this.#startThreads();
    }
  }

  /** Puts the thread behind all others of its rank. */
  #queueUp(thread: ScheduledThread): void {
    thread.rank = rankOf(thread);
    this.#queue.add(thread);
    this.#startSoon();
  }

  /** Starts threads when the code that woke them is done, so that wakes of the same moment are put in order first. */
  #startSoon(): void {
    if (this.#isStartDue) return;
    this.#isStartDue = true;
    setImmediate(() => {
      this.#isStartDue = false;
      this.#startThreads();
    });
  }

  #startThreads(): void {
    for (let thread = this.#takeNext(); thread !== undefined; thread = this.#takeNext()) {
      if (thread.state === 'waiting') this.#freeSlots--;
      else this.#nextTurns--;
      this.#starting++;
      this.#lastStartAt = this.#clock.now();
      if (thread.rank === OTHER) {
        this.#lastOtherAt = this.#lastStartAt;
        this.#burst.left--;
      }
      thread.state = 'starting';
      thread.go();
    }
    this.#isHeldUp = this.#worker !== undefined && this.#queue.size > 0;
    if (this.#mayStartLater()) void this.#lookAgain();
  }

  #takeNext(): ScheduledThread | undefined {
    if (this.#isStopped) return this.#queue.take();
    if (this.#isFull || !this.#mayStart()) return undefined;
    const mayStartOther = this.#queue.has(OTHER) && this.#mayStartOther();
    return this.#queue.take(
      ({ state, rank }) => (state === 'next-turn' || this.#freeSlots > 0) && (rank !== OTHER || mayStartOther),
    );
  }

  /** True if no thread may go before one is released. */
  get #isFull(): boolean {
    return this.#freeSlots <= 0 && this.#nextTurns === 0;
  }

  #mayStart(): boolean {
    if (this.#worker === undefined) return false;
    return this.#starting < this.#worker.startsAtOnce || this.#clock.now() - this.#lastStartAt > MAX_WAIT_MS;
  }

  #mayStartOther(): boolean {
    const now = this.#clock.now();
    if (now - this.#burst.at >= BURST_MS) this.#burst = { at: now, left: BURST };
    if (this.#burst.left <= 0) return false;
    return this.#worker?.isBusy() === false || now - this.#lastOtherAt > MAX_WAIT_MS;
  }

  /** True if threads wait for something that no event tells of. */
  #mayStartLater(): boolean {
    if (this.#worker === undefined || this.#queue.size === 0) return false;
    // A thread that is released starts the next one itself.
    if (this.#isFull) return false;
    return this.#queue.has(OTHER) || this.#starting >= this.#worker.startsAtOnce;
  }

  async #lookAgain(): Promise<void> {
    if (this.#isLookDue) return;
    this.#isLookDue = true;
    await this.#clock.sleep(BURST_MS);
    this.#isLookDue = false;
    this.#startThreads();
  }
}

function rankOf({ wake, hadRun }: ScheduledThread): Rank {
  if (wake !== 'urgent') return OTHER;
  return hadRun ? NEXT_FOR_PERSON : WOKEN_BY_PERSON;
}

/** The worker handles errors, so this is one of its logger. The sweep wakes the thread again. */
function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

const PROCESS_CLOCK: Pick<Clock, 'now' | 'sleep'> = {
  now: () => performance.now(),
  sleep: (ms) => sleep(ms),
};
