/**
 * The ids of a transcript's calls. A fork does not copy them: it looks them up in its base, and counts only those that
 * were there when it was made.
 */
export class CallIds {
  /** Each id with its position: how many were there before it. */
  readonly #own = new Map<string, number>();
  readonly #base: CallIds | undefined;
  /** How many of the base's own ids were there. */
  readonly #shared: number;

  constructor(base?: CallIds) {
    this.#base = base;
    this.#shared = base === undefined ? 0 : base.#own.size;
  }

  add(callId: string): void {
    if (!this.#own.has(callId)) this.#own.set(callId, this.#own.size);
  }

  has(callId: string): boolean {
    return this.#isAmong(callId, this.#own.size);
  }

  #isAmong(callId: string, first: number): boolean {
    const position = this.#own.get(callId);
    if (position !== undefined && position < first) return true;
    return this.#base === undefined ? false : this.#base.#isAmong(callId, this.#shared);
  }
}
