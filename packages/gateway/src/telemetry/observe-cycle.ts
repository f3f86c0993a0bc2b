import type { Middleware, TurnEvent } from '@lastcall/core';
import type { Metrics } from './metrics.ts';
import { inSpan, usageAttributes } from './spans.ts';

/** Spans and figures of what a cycle asks models and tools. Names and counts, never texts. */
export function observeCycle({ metrics, model }: { metrics: Metrics | undefined; model: string }): Middleware {
  return {
    name: 'telemetry',
    async model(next) {
      const attributes = { 'gen_ai.request.model': model };
      return await inSpan({ operation: 'chat', of: model, attributes }, async (span) => {
        const reply = await next();
        span.setAttributes(usageAttributes(reply.usage));
        metrics?.tokens({ model, input: reply.usage.inputTokens, output: reply.usage.outputTokens });
        return reply;
      });
    },
    async call(next, { toolName, callId }) {
      const attributes = { 'gen_ai.tool.name': toolName, 'gen_ai.tool.call.id': callId };
      return await inSpan({ operation: 'execute_tool', of: toolName, attributes }, () => next());
    },
  };
}

/** Counts the ends of calls. */
export function countCall(metrics: Metrics | undefined, event: TurnEvent): void {
  if (metrics === undefined || !('outcome' in event)) return;
  const { toolName, outcome, startedAt, endedAt } = event;
  // A name that the model made up is a series of its own, and there is no end to those.
  const tool = outcome.status === 'error' && outcome.code === 'unknown_tool' ? 'unknown' : toolName;
  metrics.call({ tool, outcome: outcome.status, seconds: (endedAt - startedAt) / 1_000 });
}
