import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { toPromptV3 } from './prompt-v3.ts';

/** A model of the previous interface version. Described by its shape. */
export interface LanguageModelV3Like {
  readonly specificationVersion: 'v3';
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** The model in version 4. Forms that differ in version 3 are converted; the rest passes unchanged. */
export function liftModel(model: LanguageModelV4 | LanguageModelV3Like): LanguageModelV4 {
  if (model.specificationVersion !== 'v3') return model;
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: (model as unknown as Partial<LanguageModelV4>).supportedUrls ?? {},
    async doGenerate(options) {
      const result = (await model.doGenerate(toV3(options) as never)) as LanguageModelV4GenerateResult;
      return { ...result, content: result.content.map((part) => fromV3(part)) };
    },
    async doStream(options) {
      const result = (await model.doStream(toV3(options) as never)) as LanguageModelV4StreamResult;
      const lift = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform: (part, controller) => controller.enqueue(fromV3(part)),
      });
      return { ...result, stream: result.stream.pipeThrough(lift) };
    },
  };
}

function toV3(options: LanguageModelV4CallOptions): unknown {
  return { ...options, prompt: toPromptV3(options.prompt) };
}

function fromV3<P extends { type: string }>(part: P): P {
  if (part.type !== 'file') return part;
  const { data } = part as unknown as { data: unknown };
  return typeof data === 'object' && data !== null && 'type' in data ? part : { ...part, data: { type: 'data', data } };
}
