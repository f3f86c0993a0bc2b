/**
 * After this many items that went ahead of others, one of the others goes. Otherwise a steady flow of urgent items
 * would starve them.
 */
const MAX_IN_A_ROW = 8;

interface Queued<T> {
  readonly item: T;
  /** Counts the items in the order in which they were added. */
  readonly place: number;
}

/**
 * Items by rank, 0 first, and within a rank in the order in which they were added. No item starves: after eight items
 * that went ahead of others, the oldest of the others goes.
 */
export class FairQueue<T extends { readonly rank: number }> {
  readonly #ranks: Map<T, Queued<T>>[];
  #places = 0;
  #inARow = 0;

  constructor({ ranks }: { readonly ranks: number }) {
    this.#ranks = Array.from({ length: ranks }, () => new Map());
  }

  get size(): number {
    return this.#ranks.reduce((sum, { size }) => sum + size, 0);
  }

  has(rank: number): boolean {
    return (this.#ranks[rank]?.size ?? 0) > 0;
  }

  /** Adds an item at the end of its rank. An item that is queued already moves there. */
  add(item: T): void {
    for (const items of this.#ranks) items.delete(item);
    this.#ranks[item.rank]?.set(item, { item, place: this.#places++ });
  }

  /** The next item among those that may go. */
  next(mayGo?: (item: T) => boolean): T | undefined {
    return this.#find(mayGo)?.item;
  }

  /** Removes and returns the next item among those that may go. */
  take(mayGo?: (item: T) => boolean): T | undefined {
    const found = this.#find(mayGo);
    if (found === undefined) return undefined;
    const { item, wentAhead } = found;
    this.#inARow = wentAhead ? this.#inARow + 1 : 0;
    this.#ranks[item.rank]?.delete(item);
    return item;
  }

  #find(mayGo: (item: T) => boolean = () => true): (Queued<T> & { readonly wentAhead: boolean }) | undefined {
    let first: Queued<T> | undefined;
    let oldestBehind: Queued<T> | undefined;
    for (const items of this.#ranks) {
      const queued = firstOf(items, mayGo);
      if (queued === undefined) continue;
      if (first === undefined) first = queued;
      else if (oldestBehind === undefined || queued.place < oldestBehind.place) oldestBehind = queued;
    }
    if (first === undefined) return undefined;
    if (oldestBehind === undefined) return { ...first, wentAhead: false };
    return this.#inARow < MAX_IN_A_ROW ? { ...first, wentAhead: true } : { ...oldestBehind, wentAhead: false };
  }
}

function firstOf<T>(items: ReadonlyMap<T, Queued<T>>, mayGo: (item: T) => boolean): Queued<T> | undefined {
  for (const queued of items.values()) if (mayGo(queued.item)) return queued;
  return undefined;
}
