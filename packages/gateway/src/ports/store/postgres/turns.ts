/**
 * Work with the same key runs one after another, in the order in which it came. Transactions of this process that lock the same space,
 * or events for the same agent, wait here for each other: in the database each of them would wait with a connection, and a busy space could
 * take all connections.
 */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const before = this.#last.get(key);
    this.#last.set(key, ended);
    await before;
    try {
      return await work();
    } finally {
      if (this.#last.get(key) === ended) this.#last.delete(key);
      end();
    }
  }
}
