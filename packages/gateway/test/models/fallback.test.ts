import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../../src/testing/index.ts';
import { desk } from '../machines/desk.ts';

const overloaded = (statusCode: number, message = 'Overloaded.') =>
  Object.assign(new Error(message), { name: 'AI_APICallError', statusCode, isRetryable: statusCode >= 500 });

/** A model that streams these parts. */
function streaming(parts: readonly LanguageModelV4StreamPart[]): LanguageModelV4 {
  return { ...scriptedModel([]), doStream: async () => ({ stream: ReadableStream.from(parts) }) };
}

const WHOLE: readonly LanguageModelV4StreamPart[] = [
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Roses.' },
  { type: 'text-end', id: '1' },
  {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 1, text: 1, reasoning: undefined },
    },
  },
];

const agents = [{ name: 'Poet', instructions: 'Write poems.', model: ['first', 'second'] }];
const named = (model: LanguageModelV4, modelId: string): LanguageModelV4 => ({ ...model, provider: 'acme', modelId });

async function ask(models: Record<string, LanguageModelV4>) {
  await using gateway = await startTestGateway({ models, agents });
  const answer = await gateway.api('/api/chat', { message: 'A poem.' });
  const runId = answer.run_id ?? answer.error?.details.run_id;
  const { items } = await gateway.api(`/api/runs/${runId}/transcript`);
  const replies = items.filter(({ kind }: { kind: string }) => kind === 'reply');
  return { answer, reply: replies[0]?.entry };
}

describe('a list of models', () => {
  it.each([529, 404, 401, 413])(
    '[K10] the next is asked if one fails with status %i, and the run names the model that answered and why',
    async (status) => {
      const second = scriptedModel(['Roses.']);
      const { answer, reply } = await ask({
        first: named(
          scriptedModel(() => overloaded(status)),
          'one',
        ),
        second: named(second, 'two'),
      });
      expect(answer.response).toBe('Roses.');
      expect(reply).toMatchObject({ provider: 'acme', model: 'two' });
      expect(reply.warnings[0]).toContain(`first was asked first and failed: status ${status}`);
    },
  );

  it('[K10] the first answers if it can, and no other is asked', async () => {
    const second = scriptedModel([]);
    const { answer, reply } = await ask({ first: named(scriptedModel(['Roses.']), 'one'), second });
    expect(answer.response).toBe('Roses.');
    expect(reply.model).toBe('one');
    expect(reply.warnings).toBeUndefined();
    expect(second.requests).toEqual([]);
  });

  it('[K10] each reply of a machine names the model that answered it', async () => {
    const look = [{ toolName: 'look_up', input: { order: 'A-1' } }];
    const first = named(scriptedModel([overloaded(529), look, overloaded(529), 'Done.']), 'one');
    const second = named(scriptedModel([look, look]), 'two');
    await using gateway = await startTestGateway({
      models: { first, second },
      definitions: { desk },
      agents: [{ name: 'Desk', definition: 'desk', model: ['first', 'second'] }],
    });
    const { run_id, response } = await gateway.api('/api/chat', { message: 'A-1?' });
    expect(response).toBe('Done.');
    const { items } = await gateway.api(`/api/runs/${run_id}/transcript`);
    const models = items.flatMap(({ kind, entry }: { kind: string; entry: { model: string } }) =>
      kind === 'reply' ? [entry.model] : [],
    );
    expect(models).toEqual(['two', 'one', 'two', 'one']);
  });

  it('[K10] an error in the stream before the first word goes to the next', async () => {
    const first = streaming([
      { type: 'stream-start', warnings: [] },
      { type: 'error', error: overloaded(503) },
    ]);
    const { answer } = await ask({ first, second: scriptedModel(['Roses.']) });
    expect(answer.response).toBe('Roses.');
  });

  it('[R52] an event that the first does not know, before its first word, is skipped', async () => {
    const second = scriptedModel([]);
    const first = streaming([
      { type: 'stream-start', warnings: [] },
      { type: 'error', error: Object.assign(new Error('What is a ping?'), { name: 'AI_TypeValidationError' }) },
      ...WHOLE,
    ]);
    const { answer, reply } = await ask({ first, second });
    expect(answer.response).toBe('Roses.');
    expect(reply.warnings).toBeUndefined();
    expect(second.requests).toEqual([]);
  });

  it('[K10] after the first word no other model is asked', async () => {
    const second = scriptedModel(['Violets.']);
    const first = streaming([
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'Ro' },
      { type: 'error', error: overloaded(400, 'It broke.') },
    ]);
    const { answer } = await ask({ first, second });
    expect(answer.error.code).toBe('run_failed');
    expect(second.requests).toEqual([]);
  });

  it('[K10] a request that every model would refuse is not sent to the next, and one that is too long is', async () => {
    const refused = scriptedModel(['Roses.']);
    const { answer } = await ask({ first: scriptedModel(() => overloaded(400, 'Bad tool schema.')), second: refused });
    expect(answer.error.code).toBe('run_failed');
    expect(refused.requests).toEqual([]);
    const longer = await ask({
      first: scriptedModel(() => overloaded(400, 'This exceeds the context window.')),
      second: scriptedModel(['Roses.']),
    });
    expect(longer.answer.response).toBe('Roses.');
  });

  it('[K10] a model that cannot be found is skipped', async () => {
    const { answer, reply } = await ask({ second: scriptedModel(['Roses.']) });
    expect(answer.response).toBe('Roses.');
    expect(reply.warnings[0]).toContain('There is no model "first"');
  });
});
