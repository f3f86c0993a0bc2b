import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { type RehearsedReply, rehearse } from './rehearse.ts';

/**
 * A model that follows rules, for a gateway without a key: it calls the tools that messages are about, asks before what
 * cannot be undone, and says in words that it is a rehearsal. A pure function of the request.
 */
export function rehearsalModel(): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'lastcall.rehearsal',
    modelId: 'rehearsal',
    supportedUrls: {},
    doGenerate: async (request) => generate(request),
    doStream: async (request) => {
      const parts = untilAborted(toParts(generate(request)), request.abortSignal);
      return { stream: ReadableStream.from(parts) as ReadableStream<LanguageModelV4StreamPart> };
    },
  };
}

function generate(request: LanguageModelV4CallOptions): LanguageModelV4GenerateResult {
  request.abortSignal?.throwIfAborted();
  const reply = rehearse(request);
  return {
    content: [toContent(reply)],
    finishReason: { unified: reply.kind === 'call' ? 'tool-calls' : 'stop', raw: undefined },
    usage: estimate(JSON.stringify([request.prompt, request.tools ?? []]), JSON.stringify(reply)),
    warnings: [],
  };
}

function toContent(reply: RehearsedReply): LanguageModelV4Content {
  if (reply.kind === 'text') return { type: 'text', text: reply.text };
  const { toolName, input } = reply.call;
  return { type: 'tool-call', toolCallId: reply.id, toolName, input: JSON.stringify(input) };
}

/** Four characters are about a token. */
function estimate(read: string, written: string): LanguageModelV4Usage {
  const [input, output] = [read, written].map((text) => Math.ceil(text.length / 4)) as [number, number];
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  };
}

/** The same reply in small pieces, as providers send it. */
function* toParts(result: LanguageModelV4GenerateResult): Generator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  for (const part of result.content) {
    if (part.type === 'text') {
      yield { type: 'text-start', id: '0' };
      for (const delta of pieces(part.text)) yield { type: 'text-delta', id: '0', delta };
      yield { type: 'text-end', id: '0' };
    } else if (part.type === 'tool-call') {
      yield { type: 'tool-input-start', id: part.toolCallId, toolName: part.toolName };
      for (const delta of pieces(part.input)) yield { type: 'tool-input-delta', id: part.toolCallId, delta };
      yield { type: 'tool-input-end', id: part.toolCallId };
      yield part;
    }
  }
  yield { type: 'finish', finishReason: result.finishReason, usage: result.usage };
}

/** A few characters each, never half a one. */
function pieces(text: string): readonly string[] {
  return text.match(/[\s\S]{1,8}/gu) ?? [];
}

function* untilAborted<T>(parts: Iterable<T>, signal: AbortSignal | undefined): Generator<T> {
  for (const part of parts) {
    signal?.throwIfAborted();
    yield part;
  }
}
