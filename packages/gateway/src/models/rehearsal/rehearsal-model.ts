import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { streamResult } from '@lastcall/core/internal';
import { rehearse } from './rehearse.ts';

export const REHEARSAL_PROVIDER = 'lastcall.rehearsal';

/**
 * A model that follows rules, for a gateway without a key: it calls the tools that messages are about, asks before it does
 * something that cannot be undone, and says once that it is a rehearsal. It is a pure function of the request.
 */
export function rehearsalModel(): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: REHEARSAL_PROVIDER,
    modelId: 'rehearsal',
    supportedUrls: {},
    doGenerate: async (request) => generate(request),
    doStream: async (request) => ({ stream: streamResult(generate(request), request.abortSignal) }),
  };
}

function generate(request: LanguageModelV4CallOptions): LanguageModelV4GenerateResult {
  request.abortSignal?.throwIfAborted();
  const reply = rehearse(request);
  return {
    content: [reply],
    finishReason: { unified: reply.type === 'tool-call' ? 'tool-calls' : 'stop', raw: undefined },
    usage: estimate(JSON.stringify([request.prompt, request.tools ?? []]), JSON.stringify(reply)),
    warnings: [],
  };
}

/** Four characters are about a token. */
function estimate(read: string, written: string): LanguageModelV4Usage {
  const [input, output] = [Math.ceil(read.length / 4), Math.ceil(written.length / 4)];
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  };
}
