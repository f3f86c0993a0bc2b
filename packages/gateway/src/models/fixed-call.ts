import type { LanguageModelV4, LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { streamResult } from '@lastcall/core/internal';

export interface FixedCall {
  readonly toolName: string;
  readonly input: unknown;
}

/**
 * Replaces the model if the one call is given: the turn runs, waits and is stored like any other, but no model is called. Once
 * the call is in the conversation, the reply is a text that ends the turn.
 */
export function fixedCall({ toolName, input }: FixedCall): LanguageModelV4 {
  const call = reply('tool-calls', {
    type: 'tool-call',
    toolCallId: 'call',
    toolName,
    input: JSON.stringify(input),
  });
  const end = reply('stop', { type: 'text', text: 'Done.' });
  const replyTo = ({ prompt }: { prompt: readonly { role: string }[] }): LanguageModelV4GenerateResult =>
    prompt.some(({ role }) => role === 'assistant') ? end : call;
  return {
    specificationVersion: 'v4',
    provider: 'lastcall.fixed',
    modelId: 'fixed',
    supportedUrls: {},
    doGenerate: async (options) => replyTo(options),
    doStream: async (options) => ({ stream: streamResult(replyTo(options), options.abortSignal) }),
  };
}

function reply(
  unified: 'stop' | 'tool-calls',
  content: LanguageModelV4GenerateResult['content'][number],
): LanguageModelV4GenerateResult {
  return {
    content: [content],
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: 0, noCache: 0, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 0, text: 0, reasoning: undefined },
    },
    warnings: [],
  };
}
