/**
 * One signal for each of those who act, where one signal ends them all. A signal looks through all its listeners whenever
 * another is added, so that thousands of leaves listening to the same one would cost the square of their number.
 */
export class AbortRelay {
  readonly #source: AbortSignal;
  readonly #following = new Set<AbortController>();
  readonly #pass = (): void => {
    for (const own of this.#following) own.abort(this.#source.reason);
    this.#following.clear();
  };

  constructor(source: AbortSignal) {
    this.#source = source;
    source.addEventListener('abort', this.#pass, { once: true });
  }

  /** A signal of its own, and what ends the following. */
  follow(): { readonly signal: AbortSignal; readonly leave: () => void } {
    const own = new AbortController();
    if (this.#source.aborted) own.abort(this.#source.reason);
    else this.#following.add(own);
    return { signal: own.signal, leave: () => this.#following.delete(own) };
  }

  /** Removes the listener, because the source may live much longer than this relay. */
  end(): void {
    this.#source.removeEventListener('abort', this.#pass);
    this.#following.clear();
  }
}
