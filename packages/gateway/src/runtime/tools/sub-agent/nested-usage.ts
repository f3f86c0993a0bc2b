import type { TurnEvent, Usage } from '@lastcall/core';
import { addUsage, noUsage } from '@lastcall/core/internal';

/** Adds up the usage of a turn's model calls. */
export class NestedUsage {
  #total: Usage = noUsage;
  readonly #asked = new Set<number>();

  /** A step that waited ends once more when its turn continues. Its reply was counted before. */
  add(event: TurnEvent): void {
    if (event.type === 'step.start') this.#asked.add(event.step);
    if (event.type === 'step.end' && this.#asked.has(event.step)) this.#total = addUsage(this.#total, event.usage);
  }

  get total(): Usage {
    return this.#total;
  }

  get isZero(): boolean {
    return this.#total.totalTokens === 0;
  }
}
