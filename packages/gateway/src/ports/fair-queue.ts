/** After this many urgent items in a row one of the others goes first: urgent ones may never stop coming. */
const MAX_URGENT_IN_A_ROW = 8;

/** Items in the order in which they were added, urgent ones (a person waits for them) first. */
export class FairQueue<T extends { readonly isUrgent: boolean }> {
  readonly #urgent = new Map<unknown, T>();
  readonly #others = new Map<unknown, T>();
  #urgentInARow = 0;

  get size(): number {
    return this.#urgent.size + this.#others.size;
  }

  get hasOthers(): boolean {
    return this.#others.size > 0;
  }

  /** Replaces an item of the same key. */
  add(item: T, key: unknown = item): void {
    this.#others.delete(key);
    (item.isUrgent ? this.#urgent : this.#others).set(key, item);
  }

  get(key: unknown): T | undefined {
    return this.#urgent.get(key) ?? this.#others.get(key);
  }

  /** The item whose turn it is, among those that may go. */
  next(mayGo?: (item: T) => boolean): T | undefined {
    return this.#find(mayGo)?.item;
  }

  /** Removes the item whose turn it is, among those that may go. */
  take(mayGo?: (item: T) => boolean): T | undefined {
    const found = this.#find(mayGo);
    if (found === undefined) return undefined;
    const { item, key } = found;
    (item.isUrgent ? this.#urgent : this.#others).delete(key);
    this.#urgentInARow = item.isUrgent ? this.#urgentInARow + 1 : 0;
    return item;
  }

  #find(mayGo: (item: T) => boolean = () => true): { readonly item: T; readonly key: unknown } | undefined {
    const urgentFirst = this.#urgentInARow < MAX_URGENT_IN_A_ROW;
    for (const items of urgentFirst ? [this.#urgent, this.#others] : [this.#others, this.#urgent])
      for (const [key, item] of items) if (mayGo(item)) return { item, key };
    return undefined;
  }
}
