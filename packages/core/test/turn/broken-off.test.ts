import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { brokenOffBefore } from '../../src/doors/internal.ts';
import { type Middleware, type ModelReply, runTurn } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const half = [
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Half' },
] as const satisfies readonly LanguageModelV4StreamPart[];

/** Each attempt is an error of the provider, or a stream with only these parts. After the attempts the model replies. */
function asking(...attempts: readonly (Error | readonly LanguageModelV4StreamPart[])[]): LanguageModelV4 {
  const good = scriptedModel(() => 'Whole.');
  let asked = 0;
  return {
    ...good,
    async doStream(request) {
      const attempt = attempts[asked++];
      if (attempt === undefined) return await good.doStream(request);
      if (attempt instanceof Error) throw attempt;
      const start = (controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>): void => {
        for (const part of attempt) controller.enqueue(part);
        controller.close();
      };
      return { stream: new ReadableStream({ start }) };
    },
  };
}

async function seenBy(model: LanguageModelV4): Promise<{ reply?: ModelReply; error?: unknown }> {
  const seen: { reply?: ModelReply; error?: unknown } = {};
  const host: Middleware = {
    name: 'host',
    async model(next) {
      try {
        seen.reply = await next();
        return seen.reply;
      } catch (error) {
        seen.error = error;
        throw error;
      }
    },
  };
  const clock = { now: () => 0, sleep: async () => {} };
  await runTurn({ model, middleware: [host], prompt: 'go', clock, onEvent: () => {} }).catch(() => {});
  return seen;
}

const busy = Object.assign(new Error('Busy.'), { isRetryable: true });
const refused = Object.assign(new Error('Refused.'), { statusCode: 400 });

test('[K11] a reply says how many attempts before it broke off, not counting attempts that were refused', async () => {
  const { reply } = await seenBy(asking(busy, half));
  expect(reply).toMatchObject({ attempts: 3, brokenOff: 1 });
  expect((await seenBy(asking(busy))).reply).not.toHaveProperty('brokenOff');
});

test('[K11] the error that ends a request says how many attempts broke off', async () => {
  expect(brokenOffBefore((await seenBy(asking(half, [...half, { type: 'error', error: refused }]))).error)).toBe(2);
  expect(brokenOffBefore((await seenBy(asking([{ type: 'error', error: new Error('At once.') }]))).error)).toBe(0);
  expect(brokenOffBefore('a text')).toBe(0);
});
