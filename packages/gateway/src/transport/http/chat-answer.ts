import { z } from 'zod';
import { ApiError } from '../../domain/api-error.ts';
import { shownContextId } from '../../domain/conversations/own-conversation-id.ts';
import type { RunAnswer } from '../../domain/conversations/run-answer.ts';
import type { ConversationMessage } from '../../domain/conversations/to-messages.ts';

const messageSchema = z
  .union([
    z.strictObject({ sender: z.enum(['human', 'ai']), message: z.string() }),
    z.strictObject({
      type: z.literal('tool_call'),
      tool_call_id: z.string(),
      tool_name: z.string(),
      tool_input: z.unknown(),
    }),
    z.strictObject({ type: z.literal('tool_response'), tool_call_id: z.string(), tool_output: z.string() }),
  ])
  .meta({ id: 'ChatMessage' });

export const messagesSchema: z.ZodType = z.array(messageSchema);

/** The answer of the chat endpoints. */
export const chatAnswerSchema: z.ZodType = z
  .strictObject({
    response: z.string().meta({ description: 'The output of the tool that ended the run, or the text.' }),
    saved_ai_messages: z.boolean(),
    generated_messages: messagesSchema,
    context_id: z.string(),
    run_id: z.string(),
    stop: z.looseObject({ reason: z.string() }).meta({ description: 'Why the run ended.' }),
    pending_calls: z
      .array(
        z.strictObject({
          tool_call_id: z.string(),
          tool_name: z.string(),
          tool_input: z.unknown(),
          kind: z.enum(['result', 'approval', 'input']),
        }),
      )
      .optional()
      .meta({ description: 'Calls that wait for an answer, if `stop.reason` is "suspended".' }),
  })
  .meta({ id: 'ChatAnswer' });

interface ChatAnswer {
  readonly response: string;
  readonly saved_ai_messages: boolean;
  readonly generated_messages: readonly ConversationMessage[];
  readonly context_id: string;
  readonly run_id: string;
  readonly stop: RunAnswer['stop'];
  readonly pending_calls?: readonly object[];
}

export function toChatAnswer({ pending, ...answer }: RunAnswer): ChatAnswer {
  return {
    response: answer.response,
    saved_ai_messages: answer.isSaved,
    generated_messages: answer.messages,
    context_id: answer.contextId,
    run_id: answer.runId,
    stop: answer.stop,
    ...(pending.length === 0
      ? {}
      : {
          pending_calls: pending.map(({ callId, toolName, input, kind }) => ({
            tool_call_id: callId,
            tool_name: toolName,
            tool_input: input,
            kind,
          })),
        }),
  };
}

type Viewer = { readonly kind: 'anonymous' | 'key' | 'entity'; readonly entityId?: string | undefined };

/**
 * The answer as this caller may see it. Error details from a provider or the configuration are only for operators: a provider may
 * quote the agent's instructions.
 */
export function shownTo(viewer: Viewer, answer: RunAnswer): RunAnswer {
  const contextId = shownContextId(answer.contextId, viewer);
  return { ...answer, contextId, stop: stopShownTo(viewer, answer.stop) };
}

export function stopShownTo({ kind }: Viewer, stop: RunAnswer['stop']): RunAnswer['stop'] {
  return kind === 'key' || stop.reason !== 'error' ? stop : { reason: 'error', error: 'The run failed.' };
}

/** The error response for a run that did not complete. */
export function errorOf({ status, stop, ...answer }: RunAnswer): ApiError | undefined {
  if (status === 'completed') return undefined;
  const { runId: run_id, contextId: context_id, messages: generated_messages } = answer;
  const details = { run_id, context_id, stop, generated_messages };
  if (stop.reason === 'max_invocations')
    return new ApiError('max_invocations_exceeded', 'Max invocations exceeded', { details });
  if (stop.reason === 'max_nudges')
    return new ApiError('max_consecutive_nudges_exceeded', 'Max consecutive nudges exceeded', { details });
  if (status === 'cancelled') return new ApiError('run_cancelled', 'The run was cancelled.', { details });
  return new ApiError(
    'run_failed',
    'The run failed: the call of the model failed, the configuration of the agent is invalid, or the agent could not work.',
    { details },
  );
}
