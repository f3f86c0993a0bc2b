interface Entry<T> {
  readonly at: number;
  /** Counts entries in the order in which they were added. */
  readonly place: number;
  readonly item: T;
}

/** Items by time, and those of the same time in the order in which they were added: a binary heap. */
export class Agenda<T> {
  readonly #heap: Entry<T>[] = [];
  #places = 0;

  add(at: number, item: T): void {
    this.putBack({ at, place: this.#places++, item });
  }

  /** Adds an entry that was taken. Among entries of its new time it keeps its place. */
  putBack(entry: Entry<T>): void {
    const heap = this.#heap;
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Entry<T>;
      if (!isBefore(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  take(): Entry<T> | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      const child = this.#firstChild(index);
      const below = heap[child];
      if (below === undefined || !isBefore(below, last)) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = last;
    return first;
  }

  #firstChild(index: number): number {
    const left = 2 * index + 1;
    const [one, other] = [this.#heap[left], this.#heap[left + 1]];
    return one !== undefined && other !== undefined && isBefore(other, one) ? left + 1 : left;
  }
}

function isBefore(one: Entry<unknown>, other: Entry<unknown>): boolean {
  return one.at < other.at || (one.at === other.at && one.place < other.place);
}
