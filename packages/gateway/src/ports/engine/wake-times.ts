/** A thread and the time to wake it, in milliseconds since the epoch. */
export interface WakeTime {
  readonly at: number;
  readonly threadId: string;
}

/** Future wakes in a binary heap, the nearest first, so that many of them are cheap to keep and to add. */
export class WakeTimes {
  readonly #heap: WakeTime[] = [];

  get nearest(): number | undefined {
    return this.#heap[0]?.at;
  }

  add(wake: WakeTime): void {
    const heap = this.#heap;
    let place = heap.push(wake) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!this.#isBefore(place, above)) return;
      this.#swap(place, above);
      place = above;
    }
  }

  /** Removes and returns the threads that are due, the earliest first. */
  takeDue(now: number): string[] {
    const due: string[] = [];
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      due.push(first.threadId);
      this.#removeFirst();
    }
    return due;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      let least = this.#isBefore(left, place) ? left : place;
      if (this.#isBefore(left + 1, least)) least = left + 1;
      if (least === place) return;
      this.#swap(place, least);
      place = least;
    }
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    return a !== undefined && b !== undefined && a.at < b.at;
  }

  #swap(one: number, other: number): void {
    const heap = this.#heap;
    const [a, b] = [heap[one], heap[other]];
    if (a === undefined || b === undefined) return;
    heap[one] = b;
    heap[other] = a;
  }
}
