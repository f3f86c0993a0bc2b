import type { ReplyEntry } from '../transcript/entry.ts';
import type { Ended } from './ending.ts';
import type { Turn } from './turn.ts';

export function finishStep(turn: Turn, reply: ReplyEntry, batch: readonly Ended[]): void {
  turn.emit?.({ type: 'step.end', step: reply.step, text: reply.text, usage: reply.usage });
  const { onStepFinish } = turn.options;
  if (onStepFinish === undefined) return;
  const call = ({ settlement: { callId, toolName, input } }: Ended) => ({ toolCallId: callId, toolName, input });
  const report = (error: unknown): void => turn.logger.error('onStepFinish threw. The turn is not affected.', error);
  try {
    const answer: unknown = onStepFinish({
      toolCalls: batch.map(call),
      toolResults: batch.map((one) => ({ ...call(one), output: one.settlement.outcome })),
      text: reply.text,
      usage: reply.usage,
    });
    if (answer instanceof Promise) answer.catch(report);
  } catch (error) {
    report(error);
  }
}
