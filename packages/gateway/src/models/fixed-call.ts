import type { LanguageModelV4, LanguageModelV4GenerateResult, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { streamResult } from '@lastcall/core/internal';

export interface FixedCall {
  readonly toolName: string;
  readonly input: unknown;
}

/** The message with which the turn of a given call begins. */
export function messageOfCall(toolName: string): string {
  return `Call the tool ${toolName}.`;
}

/**
 * Replaces the model if the one call is given: the turn runs, waits and is stored like any other, but no model is called. Once
 * the call is in the conversation, the reply is a text that ends the turn. Turns that the tool runs inside of its call ask the
 * model that `find` returns.
 */
export function fixedCall(
  { toolName, input }: FixedCall,
  find: () => LanguageModelV4 | Promise<LanguageModelV4>,
): LanguageModelV4 {
  const call = reply('tool-calls', {
    type: 'tool-call',
    toolCallId: 'call',
    toolName,
    input: JSON.stringify(input),
  });
  const end = reply('stop', { type: 'text', text: 'Done.' });
  const replyTo = (prompt: LanguageModelV4Prompt): LanguageModelV4GenerateResult | undefined => {
    if (firstMessage(prompt) !== messageOfCall(toolName)) return undefined;
    return prompt.some(({ role }) => role === 'assistant') ? end : call;
  };
  return {
    specificationVersion: 'v4',
    provider: 'lastcall.fixed',
    modelId: 'fixed',
    supportedUrls: {},
    doGenerate: async (options) => replyTo(options.prompt) ?? (await (await find()).doGenerate(options)),
    async doStream(options) {
      const fixed = replyTo(options.prompt);
      if (fixed === undefined) return await (await find()).doStream(options);
      return { stream: streamResult(fixed, options.abortSignal) };
    },
  };
}

function firstMessage(prompt: LanguageModelV4Prompt): string | undefined {
  const [part] = prompt.find(({ role }) => role === 'user')?.content ?? [];
  return typeof part === 'object' && part.type === 'text' ? part.text : undefined;
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
