import type { Usage } from '@lastcall/client';

/** The number of tokens, with a mark if it is estimated. */
export function tokensInWords({ totalTokens, estimated }: Pick<Usage, 'totalTokens' | 'estimated'>): string {
  return `${estimated === true ? '~' : ''}${totalTokens.toLocaleString()}`;
}

/** What was read and written, what of it came from the provider's cache, and whether it is estimated. */
export function usageTitle({
  inputTokens,
  outputTokens,
  cachedTokens = 0,
  reasoningTokens = 0,
  estimated,
}: Usage): string {
  const cached = cachedTokens === 0 ? '' : ` (${cachedTokens.toLocaleString()} from the cache)`;
  const reasoning = reasoningTokens === 0 ? '' : ` (${reasoningTokens.toLocaleString()} of reasoning)`;
  const note = estimated === true ? ', estimated: the provider did not count' : '';
  return `${inputTokens.toLocaleString()} in${cached}, ${outputTokens.toLocaleString()} out${reasoning}${note}`;
}

/** What two runs used together. */
export function addUsage(one: Usage, other: Usage): Usage {
  const cachedTokens = (one.cachedTokens ?? 0) + (other.cachedTokens ?? 0);
  const reasoningTokens = (one.reasoningTokens ?? 0) + (other.reasoningTokens ?? 0);
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    totalTokens: one.totalTokens + other.totalTokens,
    ...(cachedTokens === 0 ? {} : { cachedTokens }),
    ...(reasoningTokens === 0 ? {} : { reasoningTokens }),
    ...(one.estimated === true || other.estimated === true ? { estimated: true } : {}),
  };
}
