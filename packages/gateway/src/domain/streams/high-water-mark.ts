/**
 * The highest number seen so far. Numbers come from notices and from reads of the table, in any order. A late result may be older
 * than the known mark, and must not lower it.
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
