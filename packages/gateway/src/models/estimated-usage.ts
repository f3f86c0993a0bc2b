import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { estimateTokens, jsonLength, toTokens } from '../domain/transcript/estimate-tokens.ts';

/**
 * A model whose replies always have a token count: the server's, or an estimate if the server counted nothing. Otherwise token
 * limits and costs would have no effect with such a server.
 */
export function withEstimatedUsage(model: LanguageModelV4): LanguageModelV4 {
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    async doGenerate(options) {
      const result = await model.doGenerate(options);
      return { ...result, usage: completeUsage(result.usage, options, charactersOf(result.content)) };
    },
    async doStream(options) {
      const { stream, ...result } = await model.doStream(options);
      return { ...result, stream: stream.pipeThrough(countStream(options)) };
    },
  };
}

function countStream(
  options: LanguageModelV4CallOptions,
): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> {
  let characters = 0;
  return new TransformStream({
    transform(part, controller) {
      characters += lengthOf(part);
      controller.enqueue(
        part.type === 'finish' ? { ...part, usage: completeUsage(part.usage, options, characters) } : part,
      );
    },
  });
}

/** Some servers leave the numbers out, others send 0. */
function completeUsage(
  usage: LanguageModelV4Usage,
  { prompt, tools = [] }: LanguageModelV4CallOptions,
  characters: number,
): LanguageModelV4Usage {
  const { inputTokens, outputTokens } = usage;
  return {
    ...usage,
    ...(isCounted(inputTokens.total)
      ? {}
      : { inputTokens: { ...inputTokens, total: estimateTokens(prompt) + toTokens(jsonLength(tools)) } }),
    ...(isCounted(outputTokens.total) ? {} : { outputTokens: { ...outputTokens, total: toTokens(characters) } }),
  };
}

function isCounted(total: number | undefined): boolean {
  return total !== undefined && total > 0;
}

function charactersOf(content: LanguageModelV4GenerateResult['content']): number {
  return content.reduce((sum, part) => {
    if (part.type === 'text' || part.type === 'reasoning') return sum + part.text.length;
    return part.type === 'tool-call' ? sum + part.toolName.length + part.input.length : sum;
  }, 0);
}

/** The whole input of a call comes in its last part, after the pieces of it. */
function lengthOf(part: LanguageModelV4StreamPart): number {
  if (part.type === 'text-delta' || part.type === 'reasoning-delta') return part.delta.length;
  return part.type === 'tool-call' ? part.toolName.length + part.input.length : 0;
}
