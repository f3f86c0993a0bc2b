/**
 * Relays one abort signal to a separate signal for each actor. A signal walks all its listeners whenever another is
 * added, so thousands of leaves listening to the same one would cost quadratic time.
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

  /** Returns a separate signal, and a function that stops following. */
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
