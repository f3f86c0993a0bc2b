import type { TurnEvent } from '@lastcall/core';
import type { Metrics } from './metrics.ts';

/**
 * Counts the ends of calls. `labelOf` is the metric label of a call. It is not the tool's name itself, because callers and models can invent
 * any number of names.
 */
export function countCall(metrics: Metrics, event: TurnEvent, labelOf: (toolName: string) => string): void {
  if (!('outcome' in event)) return;
  const { toolName, outcome, startedAt, endedAt } = event;
  metrics.call({ tool: labelOf(toolName), outcome: outcome.status, seconds: (endedAt - startedAt) / 1_000 });
}
