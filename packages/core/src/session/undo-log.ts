/** The undo functions for files and resources of committed calls, kept while a rewind may go back past them. */
export class UndoLog {
  #undos: (() => Promise<void>)[] = [];
  #kept = true;

  add(undos: readonly (() => Promise<void>)[]): void {
    if (this.#kept) this.#undos.push(...undos);
  }

  /** Undoes all, newest first. Recording continues from here, so that another rewind is possible. */
  async undoAll(): Promise<void> {
    const undos = this.#undos;
    this.#undos = [];
    for (const undo of undos.reverse()) await undo();
  }

  release(): void {
    this.#kept = false;
    this.#undos = [];
  }
}
