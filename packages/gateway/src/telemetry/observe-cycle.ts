import type { Middleware, TurnEvent } from '@lastcall/core';
import type { Metrics } from './metrics.ts';
import { inSpan, isTraced, usageAttributes } from './spans.ts';

/** Spans of what a cycle asks models and tools, if anybody keeps them. Names and counts, never texts. */
export function traceCycle(model: string): readonly Middleware[] {
  if (!isTraced()) return [];
  return [
    {
      name: 'telemetry',
      async model(next) {
        const attributes = { 'gen_ai.request.model': model };
        return await inSpan({ operation: 'chat', of: model, attributes }, async (span) => {
          const reply = await next();
          span.setAttributes(usageAttributes(reply.usage));
          return reply;
        });
      },
      async call(next, { toolName, callId }) {
        const attributes = { 'gen_ai.tool.name': toolName, 'gen_ai.tool.call.id': callId };
        return await inSpan({ operation: 'execute_tool', of: toolName, attributes }, () => next());
      },
    },
  ];
}

/** Counts replies of the model and ends of calls. */
export function countEvent(metrics: Metrics, event: TurnEvent, { model }: { model: string }): void {
  if (event.type === 'step.end')
    metrics.tokens({ model, input: event.usage.inputTokens, output: event.usage.outputTokens });
  if (!('outcome' in event)) return;
  const { toolName, outcome, startedAt, endedAt } = event;
  // A name that the model made up is a series of its own, and there is no end to those.
  const tool = outcome.status === 'error' && outcome.code === 'unknown_tool' ? 'unknown' : toolName;
  metrics.call({ tool, outcome: outcome.status, seconds: (endedAt - startedAt) / 1_000 });
}
