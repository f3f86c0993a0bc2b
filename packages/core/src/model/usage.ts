import type { LanguageModelV4Usage } from '@ai-sdk/provider';

/** Tokens used, added up. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** The provider's token counts. A missing count is 0: it must not make a sum NaN. */
export function readUsage(usage: LanguageModelV4Usage | undefined): Usage {
  const inputTokens = count(usage?.inputTokens?.total);
  const outputTokens = count(usage?.outputTokens?.total);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}

function count(tokens: number | undefined): number {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? tokens : 0;
}

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    totalTokens: one.totalTokens + other.totalTokens,
  };
}
