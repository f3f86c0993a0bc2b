import type { LanguageModelV4Usage } from '@ai-sdk/provider';

/** Tokens used, added up. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** Of the input tokens, those that the provider read from its cache. Absent if there were none. */
  readonly cachedTokens?: number;
  /** Set if the provider counted nothing and the host estimated the tokens. Of a sum: set if a part of it is estimated. */
  readonly estimated?: true;
}

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** The provider's token counts. A missing count is 0: it must not make a sum NaN. */
export function readUsage(usage: LanguageModelV4Usage | undefined): Usage {
  const inputTokens = count(usage?.inputTokens?.total);
  const outputTokens = count(usage?.outputTokens?.total);
  const cachedTokens = Math.min(inputTokens, count(usage?.inputTokens?.cacheRead));
  const total = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
  return cachedTokens === 0 ? total : { ...total, cachedTokens };
}

function count(tokens: number | undefined): number {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? tokens : 0;
}

export function addUsage(one: Usage, other: Usage): Usage {
  const cachedTokens = (one.cachedTokens ?? 0) + (other.cachedTokens ?? 0);
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    totalTokens: one.totalTokens + other.totalTokens,
    ...(cachedTokens === 0 ? {} : { cachedTokens }),
    ...(one.estimated === true || other.estimated === true ? { estimated: true } : {}),
  };
}
