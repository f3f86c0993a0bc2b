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
    access_programs: null,
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
  const { calls, answer, extra } = outcome;
  const reason = cutBy(outcome);
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0, estimated } = answer.usage ?? {};
  const { cachedTokens = 0, reasoningTokens = 0 } = answer.usage ?? {};
  const status = endStatus(outcome);
  return {
    ...startedResponse(head),
    status,
    incomplete_details: reason === undefined ? null : { reason },
    output: [...(text === '' ? [] : [messageItem(head, text, status)]), ...calls.map((call) => callItem(call))],
    usage: {
      input_tokens: inputTokens,
      // The gateway does not count the tokens that a provider writes to its cache, but the client's types require the field.
      input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: reasoningTokens },
      total_tokens: totalTokens,
      ...(estimated === true ? { estimated: true } : {}),
    },
    ...extra,
  };
}

/** Of a response that has ended, and of its message. */
export function endStatus(outcome: Outcome): 'completed' | 'incomplete' {
  return cutBy(outcome) === undefined ? 'completed' : 'incomplete';
}

function cutBy({ finish }: Outcome): 'max_output_tokens' | 'content_filter' | undefined {
  if (finish === 'length') return 'max_output_tokens';
  return finish === 'content_filter' ? finish : undefined;
}

/** An output item of a response. */
interface OutputItem {
  readonly id: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

export function messageItem(head: ResponseHead, text?: string, status?: ReturnType<typeof endStatus>): OutputItem {
  return {
    type: 'message',
    id: `msg_${head.runId}`,
    status: status ?? 'in_progress',
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
