import { z } from 'zod';
import { toJson } from '../../ports/store/schema/json.ts';
import type { AcceptedTurn } from '../../runtime/chat/turn-request.ts';
import type { AnswerShape } from './answer-run.ts';
import type { Asked } from './asked.ts';
import { createdOf } from './created-of.ts';
import { dataFrames } from './data-frames.ts';
import type { Outcome } from './outcome.ts';
import { ReplyText } from './reply-text.ts';

/** The fields that identify one answer, as a whole or in chunks. */
interface CompletionHead {
  readonly runId: string;
  readonly model: string;
  /** Seconds since the epoch. */
  readonly created: number;
}

export const chatCompletionSchema: z.ZodType = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        message: z.looseObject({ role: z.literal('assistant'), content: z.string().nullable() }),
        finish_reason: z.string(),
      }),
    ),
    usage: z.looseObject({ total_tokens: z.int() }),
    stop: z.looseObject({ reason: z.string() }).meta({ description: 'Why the run ended.' }),
    run_id: z.string(),
    context_id: z.string(),
  })
  .meta({ id: 'ChatCompletion' });

function toChatCompletion(head: CompletionHead, outcome: Outcome): object {
  const { text, calls, finish } = outcome;
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(calls.length === 0 ? {} : { tool_calls: toolCalls(outcome) }),
  };
  return {
    ...headOf(head, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: usageOf(outcome),
    ...outcome.extra,
  };
}

function headOf({ runId, model, created }: CompletionHead, object: string): object {
  return { id: `chatcmpl-${runId}`, object, created, model };
}

function toolCalls({ calls }: Outcome): readonly object[] {
  return calls.map(({ callId, toolName, input }) => ({
    id: callId,
    type: 'function',
    function: { name: toolName, arguments: toJson(input) },
  }));
}

function usageOf({ answer: { usage } }: Outcome): object {
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0, estimated } = usage ?? {};
  const { cachedTokens = 0, reasoningTokens = 0 } = usage ?? {};
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: totalTokens,
    ...(cachedTokens === 0 ? {} : { prompt_tokens_details: { cached_tokens: cachedTokens } }),
    ...(reasoningTokens === 0 ? {} : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
    ...(estimated === true ? { estimated: true } : {}),
  };
}

/** A chat completion, whole or in chunks. */
export function completionShape(
  { runId }: AcceptedTurn,
  { model, isStream }: Asked,
  { isUsageWanted }: { readonly isUsageWanted: boolean },
): AnswerShape {
  const head = { runId, model, created: createdOf(runId) };
  const text = new ReplyText();
  const chunk = (choice: object, more: object = {}): object => ({
    ...headOf(head, 'chat.completion.chunk'),
    choices: [{ index: 0, finish_reason: null, ...choice }],
    ...more,
  });
  return {
    isStream,
    whole: (outcome) => toChatCompletion(head, outcome),
    start: () => dataFrames([chunk({ delta: { role: 'assistant', content: '' } })]),
    event(event) {
      const content = text.take(event);
      return content === '' ? undefined : dataFrames([chunk({ delta: { content } })]);
    },
    finish(outcome) {
      const content = text.finish(outcome.text);
      const calls = toolCalls(outcome).map((call, index) => ({ index, ...call }));
      return dataFrames([
        ...(content === '' ? [] : [chunk({ delta: { content } })]),
        ...(calls.length === 0 ? [] : [chunk({ delta: { tool_calls: calls } })]),
        chunk({ delta: {}, finish_reason: outcome.finish }, outcome.extra),
        ...(isUsageWanted ? [chunk({}, { choices: [], usage: usageOf(outcome) })] : []),
        '[DONE]',
      ]);
    },
    fail: (error) => dataFrames([error]),
  };
}
