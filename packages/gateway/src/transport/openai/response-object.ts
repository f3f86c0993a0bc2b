import { z } from 'zod';
import type { WaitingCall } from '../../domain/calls/waiting-call.ts';
import type { ClientTool, ModelSettings, RepeatedFields } from '../../domain/conversations/turn-settings.ts';
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
  readonly settings: RepeatedSettings;
}

/** The settings of a request that its response repeats. */
export interface RepeatedSettings {
  readonly instructions?: string | undefined;
  readonly clientTools?: readonly ClientTool[] | undefined;
  readonly modelSettings?: ModelSettings | undefined;
  readonly previousRunId?: string | undefined;
  readonly repeated?: RepeatedFields | undefined;
}

/** A response that is under way. */
export function startedResponse({ runId, contextId, model, created, settings }: ResponseHead): object {
  return {
    id: toResponseId(runId),
    object: 'response',
    created_at: created,
    status: 'in_progress',
    access_programs: null,
    error: null,
    incomplete_details: null,
    model,
    output: [],
    parallel_tool_calls: true,
    ...requestFields(settings),
    conversation: { id: toConversationId(contextId) },
    run_id: runId,
    context_id: contextId,
  };
}

function requestFields(settings: RepeatedSettings): object {
  const { instructions = '', clientTools = [], modelSettings = {}, previousRunId, repeated } = settings;
  const { temperature = null, topP = null, maxOutputTokens = null, reasoning = null, toolChoice } = modelSettings;
  return {
    instructions: instructions.trim() === '' ? null : instructions,
    max_output_tokens: maxOutputTokens,
    metadata: repeated?.metadata ?? {},
    previous_response_id: previousRunId === undefined ? null : toResponseId(previousRunId),
    reasoning: { effort: reasoning, summary: null },
    temperature,
    text: { format: toFormat(modelSettings) },
    tool_choice:
      toolChoice?.type === 'tool' ? { type: 'function', name: toolChoice.toolName } : (repeated?.toolChoice ?? 'auto'),
    // The gateway does not pass `strict` on.
    tools: clientTools.map(({ name, description = null, inputSchema = null }) => ({
      ...{ type: 'function', name, description, parameters: inputSchema, strict: false },
    })),
    top_p: topP,
  };
}

function toFormat({ responseFormat }: ModelSettings): object {
  if (responseFormat?.type !== 'json') return { type: 'text' };
  const { type: _type, ...format } = responseFormat;
  return format.name === undefined ? { type: 'json_object' } : { type: 'json_schema', ...format };
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
