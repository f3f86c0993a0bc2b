/** So many at once; the others wait in line. */
export class Slots {
  #free: number;
  readonly #line: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async take(): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#line.push(resolve);
    await promise;
  }

  giveBack(): void {
    const next = this.#line.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
