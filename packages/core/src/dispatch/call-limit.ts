import type { Clock } from '../clock.ts';
import { LastcallError } from '../errors.ts';

/** What ended a call from outside. */
export interface LimitHit {
  readonly code: 'timeout' | 'aborted';
  readonly message: string;
}

/**
 * The earliest of what ends a call from outside: the turn's deadline, the tool's timeout, the host's abort. Work is
 * raced against it, so a tool that ignores its signal is abandoned. A call without limits pays for none of this.
 */
export class CallLimit {
  readonly #clock: Clock;
  readonly #host: AbortSignal | undefined;
  readonly #outer: CallLimit | undefined;
  /** True if something may end it while work is running. */
  #canEnd: boolean;
  #deadline: number | undefined;
  #hit: LimitHit | undefined;
  #controller: AbortController | undefined;
  #timers: (() => void)[] | undefined;
  #onHostAbort: (() => void) | undefined;
  /** What ends with this limit: running races, and the limits of nested calls. */
  #races: Set<(hit: LimitHit) => void> | undefined;
  #inner: Set<CallLimit> | undefined;

  constructor(options: {
    clock: Clock;
    deadline?: number | undefined;
    signal?: AbortSignal | undefined;
    within?: CallLimit | undefined;
    /** True if `cancel` may be called. */
    cancellable?: boolean;
  }) {
    this.#clock = options.clock;
    this.#host = options.signal;
    this.#outer = options.within;
    this.#canEnd = options.cancellable ?? false;
    if (this.#outer !== undefined) this.#stayWithin(this.#outer);
    if (options.deadline !== undefined) this.#endAt(options.deadline, 'The deadline passed');
    if (this.#host !== undefined) this.#watch(this.#host);
  }

  /** When the call will be abandoned. */
  get deadline(): number | undefined {
    return this.#deadline;
  }

  /** What ended the call, if something has. A deadline counts from its millisecond on, even before its timer fires. */
  get hit(): LimitHit | undefined {
    // The outer limit ends first: a call must not report a timeout of its inner call as a result if both ran out of the
    // same time.
    void this.#outer?.hit;
    if (this.#hit === undefined && this.#deadline !== undefined && this.#clock.now() >= this.#deadline) {
      this.#end({ code: 'timeout', message: 'The deadline passed' });
    }
    return this.#hit;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#hit !== undefined) this.#abort(this.#hit);
    return this.#controller.signal;
  }

  /** From now on the call may take `ms`. */
  allow(ms: number): void {
    this.#endAt(this.#clock.now() + ms, `It took longer than its ${ms} ms`);
  }

  /** Ends the call from outside. */
  cancel(message: string): void {
    this.#end({ code: 'aborted', message });
  }

  /** The work's value, or what ended the call first. If abandoned work fails later, the error is ignored. */
  race<T>(work: Promise<T>): Promise<T | LimitHit>;
  race<T>(work: T | Promise<T>): T | Promise<T | LimitHit>;
  race<T>(work: T | Promise<T>): T | Promise<T | LimitHit> {
    if (!(work instanceof Promise)) return work;
    if (this.#hit === undefined) return this.#canEnd ? this.#raceAgainst(work) : work;
    work.catch(() => {});
    return Promise.resolve(this.#hit);
  }

  /** Whether the result of a race is the limit and not the work. */
  isHit(value: unknown): value is LimitHit {
    return value !== undefined && value === this.#hit;
  }

  /** The call has ended: timers and listeners are removed, and work that it started and did not await is aborted. */
  stop(): void {
    if (this.#controller?.signal.aborted === false) this.#controller.abort(ENDED);
    if (this.#inner !== undefined)
      for (const inner of this.#inner) inner.#end({ code: 'aborted', message: 'The call around it has ended' });
    if (this.#timers !== undefined) for (const callOff of this.#timers) callOff();
    if (this.#outer !== undefined) this.#outer.#inner?.delete(this);
    if (this.#onHostAbort !== undefined) this.#host?.removeEventListener('abort', this.#onHostAbort);
  }

  /**
   * Whatever ends the outer limit ends this one. This is cheaper than a timer and a listener for each call of a turn.
   */
  #stayWithin(outer: CallLimit): void {
    this.#deadline = outer.#deadline;
    if (outer.#hit !== undefined) {
      this.#end(outer.#hit);
      return;
    }
    if (!outer.#canEnd && !this.#canEnd) return;
    this.#canEnd = true;
    outer.#inner ??= new Set();
    outer.#inner.add(this);
  }

  #watch(host: AbortSignal): void {
    const hit: LimitHit = { code: 'aborted', message: 'The host aborted it' };
    if (host.aborted) {
      this.#end(hit);
      return;
    }
    this.#canEnd = true;
    this.#onHostAbort = () => this.#end(hit);
    host.addEventListener('abort', this.#onHostAbort, { once: true });
  }

  #endAt(time: number, message: string): void {
    if (this.#deadline !== undefined && this.#deadline <= time) return;
    this.#deadline = time;
    this.#canEnd = true;
    const callOff = callAfter(this.#clock, time - this.#clock.now(), () => this.#end({ code: 'timeout', message }));
    this.#timers = [...(this.#timers ?? []), callOff];
  }

  // Promise.race against one long-lived promise would keep a reaction of every race until the limit ends.
  #raceAgainst<T>(work: Promise<T>): Promise<T | LimitHit> {
    this.#races ??= new Set();
    const races = this.#races;
    return new Promise((resolve, reject) => {
      races.add(resolve);
      work.then(
        (value) => {
          races.delete(resolve);
          resolve(value);
        },
        (error: unknown) => {
          races.delete(resolve);
          reject(error);
        },
      );
    });
  }

  #end(hit: LimitHit): void {
    if (this.#hit !== undefined) return;
    this.#hit = hit;
    if (this.#races !== undefined) for (const lose of this.#races) lose(hit);
    this.#abort(hit);
    if (this.#inner !== undefined) for (const inner of this.#inner) inner.#end(hit);
  }

  #abort(hit: LimitHit): void {
    if (this.#controller?.signal.aborted === false)
      this.#controller.abort(new LastcallError(hit.code, `${hit.message}.`));
  }
}

// One error is shared: creating one costs a stack trace, and this one reports no failure.
const ENDED: LastcallError = new LastcallError('ended', 'The call has ended.');

/** Calls `wake` after `ms`; the returned function cancels it. */
function callAfter(clock: Clock, ms: number, wake: () => void): () => void {
  if (clock.after !== undefined) return clock.after(Math.max(0, ms), wake);
  const off = new AbortController();
  void clock.sleep(Math.max(0, ms), off.signal).then(() => {
    if (!off.signal.aborted) wake();
  });
  return () => off.abort();
}
