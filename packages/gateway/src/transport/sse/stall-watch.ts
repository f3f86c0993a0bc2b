/** A pause of this process itself, however long, is one step: it must not look as if its clients had all stopped reading. */
const STEPS = 5;

/** Tells when what was handed to a client has not been taken for `ms`. */
export class StallWatch {
  readonly #stepMs: number;
  readonly #onStall: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor({ ms, onStall }: { ms: number; onStall: () => void }) {
    this.#stepMs = ms / STEPS;
    this.#onStall = onStall;
  }

  /** Something waits to be taken. While it already watches, this changes nothing. */
  start(): void {
    this.#timer ??= this.#after(STEPS);
  }

  /** Something was taken. */
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
