/** The part of a layer that is needed here. */
interface Layer {
  close(): void;
  discard(options: { hurry: boolean }): void | Promise<void>;
}

/**
 * The layers on top of a layer that are not decided yet. While one of them may write, the root below is about to be
 * replaced, so other changes to it wait.
 */
export class LayersAbove {
  /** For the session itself only their number matters: it does not end before they do. */
  readonly #undecided: Set<Layer> | undefined;
  #count = 0;
  #drafts = 0;
  #waiting: (() => void)[] = [];

  constructor(below: 'session' | 'draft') {
    this.#undecided = below === 'draft' ? new Set() : undefined;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  add(layer: Layer, writes: boolean): void {
    this.#count++;
    this.#undecided?.add(layer);
    if (writes) this.#drafts++;
  }

  remove(layer: Layer, writes: boolean): void {
    this.#count--;
    this.#undecided?.delete(layer);
    if (!writes || --this.#drafts > 0 || this.#waiting.length === 0) return;
    const acts = this.#waiting;
    this.#waiting = [];
    for (const act of acts) act();
  }

  whenNoDraft(act: () => void): void {
    if (this.#drafts === 0) act();
    else this.#waiting.push(act);
  }

  /**
   * Ends nested calls that were not awaited, together with the call that made them, the newest first. They leave
   * nothing behind.
   */
  async endAll(): Promise<void> {
    for (const layer of [...(this.#undecided ?? [])].reverse()) {
      layer.close();
      await layer.discard({ hurry: true });
    }
  }
}
