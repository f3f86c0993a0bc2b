const WIDTH = 24;

/** A bar on standard error that is written over. Without a terminal: a line for each tenth. */
export class ProgressBar {
  readonly #name: string;
  readonly #isTerminal: boolean;
  #tenth = 0;
  #shownAt = 0;

  constructor(name: string) {
    this.#name = name;
    this.#isTerminal = process.stderr.isTTY === true;
  }

  show({ done, total }: { readonly done: number; readonly total: number }): void {
    if (this.#isTerminal) {
      // A terminal is slower than a model that answers at once.
      const now = Date.now();
      if (done < total && now - this.#shownAt < 100) return;
      this.#shownAt = now;
      const filled = Math.round((WIDTH * done) / total);
      const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
      process.stderr.write(`\r${this.#name} ${bar} ${done} of ${total}${done === total ? '\n' : ''}`);
      return;
    }
    const tenth = Math.floor((done * 10) / total);
    if (tenth === this.#tenth) return;
    this.#tenth = tenth;
    process.stderr.write(`${this.#name}: ${done} of ${total}\n`);
  }

  /** Ends the line of a bar that was interrupted. */
  leave(): void {
    if (this.#isTerminal && this.#shownAt > 0) process.stderr.write('\n');
  }
}
