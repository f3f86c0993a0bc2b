import { type Deferred, deferred } from '../deferred.ts';

/** A place in the queue of a lock. */
export class LockTicket {
  readonly isExclusive: boolean;
  readonly #lock: CallLock;
  #turn: Deferred<void> | undefined;
  #state: 'waiting' | 'held' | 'left' = 'held';

  constructor(lock: CallLock, isExclusive: boolean) {
    this.#lock = lock;
    this.isExclusive = isExclusive;
  }

  /** True, or a promise that resolves when it is this ticket's turn. */
  get ready(): true | Promise<void> {
    return this.#turn?.promise ?? true;
  }

  /** Releases the lock, or leaves the queue if its turn has not come. Calling it twice is harmless. */
  leave(): void {
    const state = this.#state;
    this.#state = 'left';
    if (state !== 'left') this.#lock.leave(this, state);
  }

  /** For use by the lock. */
  wait(): void {
    this.#state = 'waiting';
    this.#turn = deferred();
  }

  /** For use by the lock. */
  grant(): void {
    this.#state = 'held';
    this.#turn?.resolve();
  }
}

/**
 * First come, first served: many shared holders, or one exclusive. It keeps two calls with effects on one session from
 * interleaving, and lets calls without effects run in parallel between them.
 */
export class CallLock {
  #shared = 0;
  #exclusive = false;
  readonly #queue: LockTicket[] = [];

  get isHeld(): boolean {
    return this.#exclusive || this.#shared > 0;
  }

  enter(kind: 'shared' | 'exclusive'): LockTicket {
    const ticket = new LockTicket(this, kind === 'exclusive');
    if (this.#queue.length === 0 && this.#isFreeFor(ticket)) {
      this.#take(ticket);
      return ticket;
    }
    ticket.wait();
    this.#queue.push(ticket);
    return ticket;
  }

  /** For use by tickets: see LockTicket.leave. */
  leave(ticket: LockTicket, state: 'waiting' | 'held'): void {
    if (state === 'waiting') this.#queue.splice(this.#queue.indexOf(ticket), 1);
    else if (ticket.isExclusive) this.#exclusive = false;
    else this.#shared--;
    this.#admit();
  }

  #isFreeFor({ isExclusive }: LockTicket): boolean {
    return !this.#exclusive && (!isExclusive || this.#shared === 0);
  }

  #take({ isExclusive }: LockTicket): void {
    if (isExclusive) this.#exclusive = true;
    else this.#shared++;
  }

  #admit(): void {
    for (let next = this.#queue[0]; next !== undefined && this.#isFreeFor(next); next = this.#queue[0]) {
      this.#queue.shift();
      this.#take(next);
      next.grant();
    }
  }
}
