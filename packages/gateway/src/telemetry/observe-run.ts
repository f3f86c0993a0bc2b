import type { TurnEvent } from '@lastcall/core';
import type { Metrics } from './metrics.ts';

export interface CountedBy {
  readonly model: string;
  /** The metric label of a call. It is not the tool's name itself, because callers and models can invent any number of names. */
  readonly labelOf: (toolName: string) => string;
}

/** Counts the model's replies and the ends of calls. */
export function countEvent(metrics: Metrics, event: TurnEvent, { model, labelOf }: CountedBy): void {
  if (event.type === 'step.end') {
    const { inputTokens: input, cachedTokens: cached = 0, outputTokens: output, estimated } = event.usage;
    metrics.tokens({ model, input, cached, output, isEstimated: estimated === true });
  }
  if (!('outcome' in event)) return;
  const { toolName, outcome, startedAt, endedAt } = event;
  metrics.call({ tool: labelOf(toolName), outcome: outcome.status, seconds: (endedAt - startedAt) / 1_000 });
}
