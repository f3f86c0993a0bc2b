import type {
  LanguageModelV4,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider';
import { task } from './contender.ts';

const usage: LanguageModelV4GenerateResult['usage'] = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};

/** The call that the model makes in each step. */
export interface Called {
  readonly toolName: string;
  readonly input: string;
}

/** The cheapest model of the AI SDK's interface that makes one call a step, then says the answer. The ids of its calls begin after `from`. */
export function countingModel(steps: number, called: Called = task, from = 0): LanguageModelV4 {
  let asked = 0;
  const callOf = (number: number): LanguageModelV4ToolCall => ({
    type: 'tool-call',
    toolCallId: `call-${from + number}`,
    toolName: called.toolName,
    input: called.input,
  });
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'counting',
    supportedUrls: {},
    async doGenerate() {
      const call = asked++ < steps ? callOf(asked) : undefined;
      const content: LanguageModelV4Content[] = [call ?? { type: 'text', text: task.answer }];
      return { content, finishReason: finishOf(call), usage, warnings: [] };
    },
    async doStream() {
      const call = asked++ < steps ? callOf(asked) : undefined;
      const parts = call === undefined ? textParts() : callParts(call);
      return { stream: toStream([...parts, { type: 'finish', finishReason: finishOf(call), usage }]) };
    },
  };
}

function toStream(parts: readonly LanguageModelV4StreamPart[]): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

function finishOf(call: LanguageModelV4ToolCall | undefined): LanguageModelV4GenerateResult['finishReason'] {
  return { unified: call === undefined ? 'stop' : 'tool-calls', raw: undefined };
}

function callParts(call: LanguageModelV4ToolCall): LanguageModelV4StreamPart[] {
  const id = call.toolCallId;
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'tool-input-start', id, toolName: call.toolName },
    { type: 'tool-input-delta', id, delta: call.input },
    { type: 'tool-input-end', id },
    call,
  ];
}

function textParts(): LanguageModelV4StreamPart[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: task.answer },
    { type: 'text-end', id: '0' },
  ];
}
