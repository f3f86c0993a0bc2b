import type { TurnEvent } from '@lastcall/core';

/** Adds up the usage of a turn's model calls. */
export class NestedUsage {
  inputTokens = 0;
  outputTokens = 0;
  totalTokens = 0;

  add(event: TurnEvent): void {
    if (event.type !== 'step.end') return;
    this.inputTokens += event.usage.inputTokens;
    this.outputTokens += event.usage.outputTokens;
    this.totalTokens += event.usage.totalTokens;
  }

  get isZero(): boolean {
    return this.totalTokens === 0;
  }
}
