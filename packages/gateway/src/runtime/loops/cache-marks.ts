import type { LanguageModelV4, LanguageModelV4Message } from '@ai-sdk/provider';

interface Marking {
  readonly model: Pick<LanguageModelV4, 'provider'>;
  /** The message that differs in each request. It is last. */
  readonly last: LanguageModelV4Message | undefined;
  /** The prompt as it was given, in which `last` is found. */
  readonly given: readonly LanguageModelV4Message[];
}

/**
 * Marks what a provider should keep for the next request. Most providers find the longest beginning that they know by themselves.
 * Anthropic stores only what is marked: the tools and the system text, and the conversation without the situation, which is different in
 * the next request. A request that the caller has marked itself is left alone, because four marks are the most that it may have.
 */
export function markCached(
  prompt: LanguageModelV4Message[],
  { model, last, given }: Marking,
): LanguageModelV4Message[] {
  if (!ANTHROPIC.test(model.provider) || prompt.some(isMarked)) return prompt;
  const end = last === undefined ? prompt.length : given.lastIndexOf(last);
  const system = prompt.findLastIndex(({ role }, at) => role === 'system' && at < end);
  const marked = new Set([system, end - 1].filter((at) => at >= 0));
  return prompt.map((message, at) => (marked.has(at) ? withMark(message) : message));
}

// `anthropic.messages`, and the same models at other vendors: `vertex.anthropic.messages`.
const ANTHROPIC = /(^|\.)anthropic(\.|$)/;
const MARK = { cacheControl: { type: 'ephemeral' } };

function isMarked({ providerOptions, content }: LanguageModelV4Message): boolean {
  if (providerOptions?.anthropic?.cacheControl !== undefined) return true;
  return (
    typeof content !== 'string' &&
    (content as readonly Pick<LanguageModelV4Message, 'providerOptions'>[]).some(
      (part) => part.providerOptions?.anthropic?.cacheControl !== undefined,
    )
  );
}

function withMark(message: LanguageModelV4Message): LanguageModelV4Message {
  const { providerOptions = {} } = message;
  return { ...message, providerOptions: { ...providerOptions, anthropic: { ...providerOptions.anthropic, ...MARK } } };
}
