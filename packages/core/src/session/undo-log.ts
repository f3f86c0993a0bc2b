/** What would undo the files and resources of calls that were committed, kept while somebody may go back past them. */
export class UndoLog {
  #undos: (() => Promise<void>)[] = [];
  #kept = true;

  add(undos: readonly (() => Promise<void>)[]): void {
    if (this.#kept) this.#undos.push(...undos);
  }

  /** Undoes all, newest first. Kept on from here, so that one may go back again. */
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
