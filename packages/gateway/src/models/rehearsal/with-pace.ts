import { setTimeout as sleep } from 'node:timers/promises';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { REHEARSAL_PROVIDER } from './rehearsal-model.ts';

/** How long a model thinks before its first word. */
const FIRST_MS = 350;
/** A piece has seven characters, nearly two tokens: about sixty tokens a second. */
const PIECE_MS = 30;

/** The rehearsal streams as fast as a model, so that people see what streaming looks like. Other models stay as they are. */
export function withPace(model: LanguageModelV4): LanguageModelV4 {
  if (model.provider !== REHEARSAL_PROVIDER) return model;
  return {
    ...model,
    async doStream(request) {
      const { stream, ...rest } = await model.doStream(request);
      return { ...rest, stream: stream.pipeThrough(slowly(request.abortSignal)) };
    },
  };
}

function slowly(
  signal: AbortSignal | undefined,
): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> {
  return new TransformStream({
    async transform(part, controller) {
      const ms = part.type === 'stream-start' ? FIRST_MS : part.type.endsWith('-delta') ? PIECE_MS : 0;
      if (ms > 0) await sleep(ms);
      signal?.throwIfAborted();
      controller.enqueue(part);
    },
  });
}
