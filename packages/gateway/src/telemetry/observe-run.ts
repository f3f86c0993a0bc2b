import type { Middleware, TurnEvent } from '@lastcall/core';
import type { Metrics } from './metrics.ts';
import { inSpan, isTraced, usageAttributes } from './spans.ts';

/** Creates spans for the model and tool calls of a run, if tracing is on. They hold names and counts, never texts. */
export function traceRun(model: string): readonly Middleware[] {
  if (!isTraced()) return [];
  return [
    {
      name: 'telemetry',
      async model(next) {
        const attributes = { 'gen_ai.request.model': model };
        return await inSpan({ operation: 'chat', subject: model, attributes }, async (span) => {
          const reply = await next();
          span.setAttributes(usageAttributes(reply.usage));
          return reply;
        });
      },
      async call(next, { toolName, callId }) {
        const attributes = { 'gen_ai.tool.name': toolName, 'gen_ai.tool.call.id': callId };
        return await inSpan({ operation: 'execute_tool', subject: toolName, attributes }, () => next());
      },
    },
  ];
}

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
