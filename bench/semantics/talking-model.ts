import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { Interview, Reply } from './subject.ts';

/** A model with the AI SDK's interface that returns the replies of an interview. */
export function talkingModel(interview: Interview): LanguageModelV4 {
  const next = (options: LanguageModelV4CallOptions): LanguageModelV4GenerateResult =>
    toResult(interview.ask(readResults(options)), interview.asked);
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'talking',
    supportedUrls: {},
    doGenerate: async (options) => next(options),
    doStream: async (options) => ({ stream: toStream(next(options)) }),
  };
}

function readResults({ prompt }: LanguageModelV4CallOptions): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const message of prompt) {
    if (message.role !== 'tool') continue;
    for (const part of message.content) if (part.type === 'tool-result') shown[part.toolName] = readOutput(part.output);
  }
  return shown;
}

function readOutput(output: unknown): string {
  const { value, reason } = output as { value?: unknown; reason?: unknown };
  const said = value ?? reason ?? output;
  return typeof said === 'string' ? said : JSON.stringify(said);
}

function toResult(reply: Reply, time: number): LanguageModelV4GenerateResult {
  const content: LanguageModelV4Content[] =
    typeof reply === 'string'
      ? [{ type: 'text', text: reply }]
      : reply.map((toolName, index) => ({
          type: 'tool-call',
          toolCallId: `call-${time}-${index}`,
          toolName,
          input: '{}',
        }));
  return {
    content,
    finishReason: { unified: typeof reply === 'string' ? 'stop' : 'tool-calls', raw: undefined },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 5, text: 5, reasoning: undefined },
    },
    warnings: [],
  };
}

function toStream({
  content,
  finishReason,
  usage,
}: LanguageModelV4GenerateResult): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue({ type: 'stream-start', warnings: [] });
      for (const part of content) {
        if (part.type === 'text') {
          controller.enqueue({ type: 'text-start', id: '0' });
          controller.enqueue({ type: 'text-delta', id: '0', delta: part.text });
          controller.enqueue({ type: 'text-end', id: '0' });
        } else controller.enqueue(part as LanguageModelV4StreamPart);
      }
      controller.enqueue({ type: 'finish', finishReason, usage });
      controller.close();
    },
  });
}
