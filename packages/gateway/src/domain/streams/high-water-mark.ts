/**
 * The highest number heard of so far. Numbers come from several sides (notices, reads of the table) and in any order, so an answer
 * that was long on its way may be older than what is known by then: it must not set the mark back, and it cannot.
 */
export class HighWaterMark {
  #value = 0;

  get value(): number {
    return this.#value;
  }

  raiseTo(value: number): void {
    if (value > this.#value) this.#value = value;
  }
}
