import type { Attributes, Tracer } from '@opentelemetry/api';
import type { Middleware } from '../contract/middleware.ts';
import type { ModelRequest } from '../contract/middleware-for.ts';
import type { ModelReply } from '../model/model-reply.ts';
import { isToolResult } from '../results/result.ts';
import { assertKnownOptions, type KnownNames, knownNames } from '../unknown-option.ts';
import { inputTexts, outputTexts } from './message-texts.ts';
import { toRecordedJson } from './recorded-json.ts';
import { failSpan, inSpan, record } from './spans.ts';

export interface TracingOptions {
  /**
   * Also records texts: instructions, messages, replies, and inputs and results of tools. Default false: spans have names and counts, and no
   * texts except those of errors.
   */
  texts?: boolean;
  /** Removes secrets from each text that is recorded, those of errors included. */
  redact?: (text: string) => string;
  /** Default: the tracer of the SDK in this process. Without one, nothing is recorded. */
  tracer?: Tracer;
}

const OPTIONS: KnownNames = knownNames<TracingOptions>(
  { texts: true, redact: true, tracer: true },
  { recordInputs: 'texts', recordOutputs: 'texts', content: 'texts' },
);

/**
 * Records a span `chat <model>` for each request to a model and a span `execute_tool <tool>` for each run of a tool, with the attributes of
 * OpenTelemetry's GenAI conventions.
 */
export function tracing(options: TracingOptions = {}): Middleware {
  assertKnownOptions(options, OPTIONS);
  const { texts = false, redact = (text) => text, tracer } = options;
  return {
    name: 'tracing',
    async model(next, request, { model }) {
      const attributes = (): Attributes => requestAttributes(request, model);
      const subject = model.modelId;
      return await inSpan({ operation: 'chat', subject, attributes, tracer, redact }, async (span) => {
        if (texts) record(span, () => span.setAttributes(inputTexts(request, redact)));
        const reply = await next();
        // After the reply, `model` names the one that answered.
        const answered = model.modelId;
        record(span, () => span.setAttributes({ 'gen_ai.response.model': answered, ...replyAttributes(reply) }));
        if (texts) record(span, () => span.setAttributes(outputTexts(reply.content, finishReasonOf(reply), redact)));
        return reply;
      });
    },
    async call(next, { toolName, callId, input }) {
      const attributes = (): Attributes => ({
        'gen_ai.tool.name': toolName,
        'gen_ai.tool.call.id': callId,
        'gen_ai.tool.type': 'function',
      });
      return await inSpan(
        { operation: 'execute_tool', subject: toolName, attributes, tracer, redact },
        async (span) => {
          const note = (name: string, value: unknown): void =>
            record(span, () => span.setAttribute(name, toRecordedJson(value, redact)));
          if (texts) note('gen_ai.tool.call.arguments', input);
          const returned = await next();
          if (texts) note('gen_ai.tool.call.result', returned);
          // A tool may return that it failed, without throwing.
          if (isToolResult(returned) && returned.status === 'error') {
            const { code: type, message } = returned;
            record(span, () => failSpan(span, { type, message: () => redact(message) }));
          }
          return returned;
        },
      );
    },
  };
}

/** What a turn is about. */
export interface TurnSubject {
  /** The name of the agent. */
  readonly agent: string;
  readonly agentId?: string;
  readonly conversationId?: string;
  /** Removes secrets from the message of an error. */
  readonly redact?: (text: string) => string;
  readonly tracer?: Tracer;
}

/** Runs a turn in a span `invoke_agent <agent>`. The spans of its requests and calls are inside. */
export async function traceTurn<T>(
  { agent, agentId, conversationId, redact, tracer }: TurnSubject,
  turn: () => Promise<T>,
): Promise<T> {
  const attributes = (): Attributes => ({
    'gen_ai.agent.name': agent,
    ...(agentId === undefined ? {} : { 'gen_ai.agent.id': agentId }),
    ...(conversationId === undefined ? {} : { 'gen_ai.conversation.id': conversationId }),
  });
  return await inSpan({ operation: 'invoke_agent', subject: agent, attributes, tracer, redact }, async (span) => {
    const result = await turn();
    const { usage } = (result ?? {}) as { readonly usage?: ModelReply['usage'] };
    if (typeof usage === 'object' && usage !== null) record(span, () => span.setAttributes(usageAttributes(usage)));
    return result;
  });
}

function requestAttributes(
  request: ModelRequest,
  { provider, modelId }: { provider: string; modelId: string },
): Attributes {
  const { temperature, topP, topK, maxOutputTokens, seed, stopSequences, frequencyPenalty, presencePenalty } = request;
  return definedOnly({
    // Packages name their models `openai.responses`, for example.
    'gen_ai.provider.name': provider.split('.')[0],
    'gen_ai.request.model': modelId,
    'gen_ai.request.temperature': temperature,
    'gen_ai.request.top_p': topP,
    'gen_ai.request.top_k': topK,
    'gen_ai.request.max_tokens': maxOutputTokens,
    'gen_ai.request.seed': seed,
    'gen_ai.request.stop_sequences': stopSequences,
    'gen_ai.request.frequency_penalty': frequencyPenalty,
    'gen_ai.request.presence_penalty': presencePenalty,
  });
}

function replyAttributes(reply: ModelReply): Attributes {
  return { 'gen_ai.response.finish_reasons': [finishReasonOf(reply)], ...usageAttributes(reply.usage) };
}

function usageAttributes({ inputTokens, outputTokens, cachedTokens }: ModelReply['usage']): Attributes {
  return definedOnly({
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
    'gen_ai.usage.cache_read.input_tokens': cachedTokens,
  });
}

function finishReasonOf({ finishReason }: ModelReply): string {
  return finishReason?.unified ?? 'unknown';
}

function definedOnly(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
