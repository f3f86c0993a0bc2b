import { z } from 'zod';
import type { WaitingCall } from '../../domain/calls/waiting-call.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { Outcome } from './outcome.ts';
import { toConversationId, toResponseId } from './responses-request.ts';

export const responseSchema: z.ZodType = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    status: z.enum(['completed', 'incomplete', 'in_progress', 'failed', 'cancelled']),
    model: z.string(),
    output: z.array(z.looseObject({ type: z.string(), id: z.string() })),
    conversation: z.strictObject({ id: z.string() }),
    run_id: z.string(),
    context_id: z.string(),
  })
  .meta({ id: 'OpenAiResponse' });

/** The fields that identify one response, as a whole or as events. */
export interface ResponseHead {
  readonly runId: string;
  readonly contextId: string;
  readonly model: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly previousRunId?: string | undefined;
}

/** A response that is under way. */
export function startedResponse({ runId, contextId, model, created, previousRunId }: ResponseHead): object {
  return {
    id: toResponseId(runId),
    object: 'response',
    created_at: created,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: previousRunId === undefined ? null : toResponseId(previousRunId),
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    conversation: { id: toConversationId(contextId) },
    run_id: runId,
    context_id: contextId,
  };
}

/** `text`: the message that the client reads, if it contains more than the run's answer. */
export function endedResponse(head: ResponseHead, outcome: Outcome, text: string = outcome.text): object {
  const { finish, calls, answer, extra } = outcome;
  const reason = finish === 'length' ? 'max_output_tokens' : finish === 'content_filter' ? finish : undefined;
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0, estimated } = answer.usage ?? {};
  const { cachedTokens = 0, reasoningTokens = 0 } = answer.usage ?? {};
  return {
    ...startedResponse(head),
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    output: [...(text === '' ? [] : [messageItem(head, text)]), ...calls.map((call) => callItem(call))],
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: cachedTokens },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: reasoningTokens },
      total_tokens: totalTokens,
      ...(estimated === true ? { estimated: true } : {}),
    },
    ...extra,
  };
}

/** An output item of a response. */
interface OutputItem {
  readonly id: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

export function messageItem(head: ResponseHead, text?: string): OutputItem {
  return {
    type: 'message',
    id: `msg_${head.runId}`,
    status: text === undefined ? 'in_progress' : 'completed',
    role: 'assistant',
    content: text === undefined ? [] : [textPart(text)],
  };
}

export function textPart(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

export function callItem({ callId, toolName, input }: WaitingCall, isStarted = false): OutputItem {
  return {
    type: 'function_call',
    id: `fc_${callId}`,
    call_id: callId,
    name: toolName,
    arguments: isStarted ? '' : toJson(input),
    status: isStarted ? 'in_progress' : 'completed',
  };
}
