/** A pause of this process counts as one step, however long it is: it must not look as if all clients had stopped reading. */
const STEPS = 5;

/** Detects that a client has not read for `ms`. */
export class StallWatch {
  readonly #stepMs: number;
  readonly #onStall: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor({ ms, onStall }: { ms: number; onStall: () => void }) {
    this.#stepMs = ms / STEPS;
    this.#onStall = onStall;
  }

  /** Data is waiting to be read. Calling it again while it already watches has no effect. */
  start(): void {
    this.#timer ??= this.#after(STEPS);
  }

  /** The client has read something. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #after(steps: number): NodeJS.Timeout {
    return setTimeout(() => {
      if (steps === 1) this.#onStall();
      else this.#timer = this.#after(steps - 1);
    }, this.#stepMs);
  }
}
