import type { LanguageModelV4GenerateResult, LanguageModelV4StreamPart } from '@ai-sdk/provider';

/** A whole reply as a provider would stream it, in pieces. For models implemented in code. */
export function streamResult(
  result: LanguageModelV4GenerateResult,
  signal?: AbortSignal,
): ReadableStream<LanguageModelV4StreamPart> {
  const parts = toParts(result);
  return new ReadableStream({
    pull(controller) {
      signal?.throwIfAborted();
      const { done, value } = parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}

function* toParts({
  content,
  finishReason,
  usage,
}: LanguageModelV4GenerateResult): Generator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  for (const [index, part] of content.entries()) {
    const id = String(index);
    if (part.type === 'text' || part.type === 'reasoning') {
      const metadata = part.providerMetadata === undefined ? {} : { providerMetadata: part.providerMetadata };
      yield { type: `${part.type}-start`, id, ...metadata };
      for (const delta of pieces(part.text)) yield { type: `${part.type}-delta`, id, delta };
      yield { type: `${part.type}-end`, id };
    } else if (part.type === 'tool-call') {
      yield { type: 'tool-input-start', id: part.toolCallId, toolName: part.toolName };
      for (const delta of pieces(part.input)) yield { type: 'tool-input-delta', id: part.toolCallId, delta };
      yield { type: 'tool-input-end', id: part.toolCallId };
      yield part;
    } else yield part;
  }
  yield { type: 'finish', finishReason, usage };
}

/** A few characters each, never half of one. */
function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,7}/gu) ?? [];
}
