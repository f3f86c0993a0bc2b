import type { LanguageModelV4CallOptions, LanguageModelV4Content } from '@ai-sdk/provider';
import type { Usage } from '@lastcall/core';
import { estimateTokens, jsonLength, toTokens } from '../domain/transcript/estimate-tokens.ts';

type Request = Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'>;

/**
 * The token count of a reply: the provider's, or an estimate, marked as such, of what it did not count. Otherwise token limits, costs and
 * spend limits would have no effect with such a provider. Some providers leave the numbers out, others send 0.
 */
export function completeUsage(usage: Usage, request: Request, content: readonly LanguageModelV4Content[]): Usage {
  if (usage.inputTokens > 0 && usage.outputTokens > 0) return usage;
  const inputTokens = usage.inputTokens > 0 ? usage.inputTokens : estimateRequest(request);
  const outputTokens = usage.outputTokens > 0 ? usage.outputTokens : toTokens(charactersOf(content));
  // The estimate is the same: an empty reply has no output tokens.
  if (inputTokens === usage.inputTokens && outputTokens === usage.outputTokens) return usage;
  return { ...usage, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, estimated: true };
}

/** The input tokens of a request, as long as no provider has counted them. */
export function estimateRequest({ prompt, tools = [] }: Request): number {
  return estimateTokens(prompt) + toTokens(jsonLength(tools));
}

function charactersOf(content: readonly LanguageModelV4Content[]): number {
  return content.reduce((sum, part) => {
    if (part.type === 'text' || part.type === 'reasoning') return sum + part.text.length;
    return part.type === 'tool-call' ? sum + part.toolName.length + part.input.length : sum;
  }, 0);
}
