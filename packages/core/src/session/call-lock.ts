/** A place in the queue of a lock. `ready` is true, or resolves when it is this one's turn. */
export interface LockTicket {
  readonly ready: true | Promise<void>;
  /** Gives the lock back, or the place in the queue where its turn has not come. Harmless twice. */
  leave(): void;
}

interface Waiter {
  readonly exclusive: boolean;
  readonly grant: () => void;
}

/**
 * First come, first served: many shared holders, or one exclusive. It keeps two calls with effects on one session from
 * interleaving, and lets calls without effects run side by side between them.
 */
export class CallLock {
  #shared = 0;
  #exclusive = false;
  readonly #queue: Waiter[] = [];

  get isHeld(): boolean {
    return this.#exclusive || this.#shared > 0;
  }

  enter(kind: 'shared' | 'exclusive'): LockTicket {
    const exclusive = kind === 'exclusive';
    if (this.#queue.length === 0 && this.#isFree(exclusive)) {
      this.#take(exclusive);
      return { ready: true, leave: once(() => this.#release(exclusive)) };
    }
    return this.#waitInLine(exclusive);
  }

  #waitInLine(exclusive: boolean): LockTicket {
    const turn = Promise.withResolvers<void>();
    let granted = false;
    const waiter: Waiter = {
      exclusive,
      grant: () => {
        granted = true;
        turn.resolve();
      },
    };
    this.#queue.push(waiter);
    const leave = (): void => {
      if (granted) this.#release(exclusive);
      else this.#leaveQueue(waiter);
    };
    return { ready: turn.promise, leave: once(leave) };
  }

  #leaveQueue(waiter: Waiter): void {
    this.#queue.splice(this.#queue.indexOf(waiter), 1);
    this.#admit();
  }

  #isFree(exclusive: boolean): boolean {
    return !this.#exclusive && (!exclusive || this.#shared === 0);
  }

  #take(exclusive: boolean): void {
    if (exclusive) this.#exclusive = true;
    else this.#shared++;
  }

  #release(exclusive: boolean): void {
    if (exclusive) this.#exclusive = false;
    else this.#shared--;
    this.#admit();
  }

  #admit(): void {
    for (let next = this.#queue[0]; next !== undefined && this.#isFree(next.exclusive); next = this.#queue[0]) {
      this.#queue.shift();
      this.#take(next.exclusive);
      next.grant();
    }
  }
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}
