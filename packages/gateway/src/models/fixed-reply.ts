import type { LanguageModelV4, LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { streamResult } from '@lastcall/core/internal';

/** Replaces the model if the reply is given: the turn runs and is stored like any other, but no model is called. */
export function fixedReply(text: string): LanguageModelV4 {
  const reply: LanguageModelV4GenerateResult = {
    content: [{ type: 'text', text }],
    finishReason: { unified: 'stop', raw: undefined },
    usage: {
      inputTokens: { total: 0, noCache: 0, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 0, text: 0, reasoning: undefined },
    },
    warnings: [],
  };
  return {
    specificationVersion: 'v4',
    provider: 'lastcall.fixed',
    modelId: 'fixed',
    supportedUrls: {},
    doGenerate: async () => reply,
    doStream: async ({ abortSignal }) => ({ stream: streamResult(reply, abortSignal) }),
  };
}
