import type { TurnEvent, Usage } from '@lastcall/core';
import { addUsage, noUsage } from '@lastcall/core/internal';

/** Adds up the usage of a turn's model calls. */
export class NestedUsage {
  #total: Usage = noUsage;

  add(event: TurnEvent): void {
    if (event.type === 'step.end') this.#total = addUsage(this.#total, event.usage);
  }

  get total(): Usage {
    return this.#total;
  }

  get isZero(): boolean {
    return this.#total.totalTokens === 0;
  }
}
