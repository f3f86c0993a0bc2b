import type { LanguageModelV4Usage } from '@ai-sdk/provider';

/** Tokens used, added up. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** Of the input tokens, those that the provider read from its cache. Absent if there were none. */
  readonly cachedTokens?: number;
  /** Of the output tokens, those of reasoning. Absent if there were none, or if the provider does not count them. */
  readonly reasoningTokens?: number;
  /** Set if the provider counted nothing and the host estimated the tokens. Of a sum: set if a part of it is estimated. */
  readonly estimated?: true;
}

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** The provider's token counts. A missing count is 0: it must not make a sum NaN. */
export function readUsage(usage: LanguageModelV4Usage | undefined): Usage {
  const inputTokens = count(usage?.inputTokens?.total);
  const outputTokens = count(usage?.outputTokens?.total);
  const cachedTokens = Math.min(inputTokens, count(usage?.inputTokens?.cacheRead));
  const reasoningTokens = Math.min(outputTokens, count(usage?.outputTokens?.reasoning));
  return withParts(
    { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    cachedTokens,
    reasoningTokens,
  );
}

function count(tokens: number | undefined): number {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? tokens : 0;
}

export function addUsage(one: Usage, other: Usage): Usage {
  const sum: Usage = {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    totalTokens: one.totalTokens + other.totalTokens,
  };
  const cachedTokens = (one.cachedTokens ?? 0) + (other.cachedTokens ?? 0);
  const reasoningTokens = (one.reasoningTokens ?? 0) + (other.reasoningTokens ?? 0);
  const parts = withParts(sum, cachedTokens, reasoningTokens);
  return one.estimated === true || other.estimated === true ? { ...parts, estimated: true } : parts;
}

/** A part is absent if it is 0. */
function withParts(usage: Usage, cachedTokens: number, reasoningTokens: number): Usage {
  if (cachedTokens === 0 && reasoningTokens === 0) return usage;
  return {
    ...usage,
    ...(cachedTokens === 0 ? {} : { cachedTokens }),
    ...(reasoningTokens === 0 ? {} : { reasoningTokens }),
  };
}
