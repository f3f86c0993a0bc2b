import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LanguageModelV4, LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { countingModel } from '../overhead/counting-model.ts';

/** Makes `steps` calls after each message of a person, then answers. It has no state, so many conversations can use it at once. */
export function chatSteps(steps: number): LanguageModelV4 {
  const [calling, answering] = [countingModel(Number.POSITIVE_INFINITY), countingModel(0)];
  return {
    ...calling,
    doStream: (options) => (callsSince(options.prompt) < steps ? calling : answering).doStream(options),
  };
}

function callsSince(prompt: LanguageModelV4Prompt): number {
  const asked = prompt.findLastIndex(({ role }) => role === 'user');
  return prompt.slice(asked + 1).filter(({ role }) => role === 'tool').length;
}

/** Its first word is the time at which it sends it. Then it pauses, so that no later delta causes that word to be sent. */
export function timedWords(): LanguageModelV4 {
  const model = countingModel(0);
  return {
    ...model,
    async doStream(options) {
      const { stream } = await model.doStream(options);
      const parts: LanguageModelV4StreamPart[] = [];
      for await (const part of stream) parts.push(part);
      return { stream: Readable.toWeb(Readable.from(words(parts.slice(2)))) as typeof stream };
    },
  };
}

async function* words(rest: readonly LanguageModelV4StreamPart[]): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: '0' };
  // As with a provider, some time passes before the first word.
  await sleep(20);
  yield { type: 'text-delta', id: '0', delta: `${clock()} ` };
  await sleep(40);
  yield* rest;
}

/** Milliseconds since the epoch, finer than Date: the same clock in all processes of a machine. */
export function clock(): number {
  return performance.timeOrigin + performance.now();
}
