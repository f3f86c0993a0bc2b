import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { BudgetUsedUp, type Middleware, runTurn, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'Seen.' });
const call = [{ toolName: 'look', input: {} }];

/** Refuses requests from this step on. */
const refusing = (from: number): Middleware => ({
  name: 'host',
  async model(next, _request, { step }) {
    if (step >= from) throw new BudgetUsedUp('money', 'Nothing is left.');
    return await next();
  },
});

test('[K12] a host that refuses a request stops the turn with budget, after the calls that were asked for', async () => {
  const model = scriptedModel([call, 'never']);
  const { stop, steps, transcript } = await runTurn({
    model,
    tools: { look },
    middleware: [refusing(2)],
    prompt: 'go',
  });
  expect(stop).toEqual({ reason: 'budget', dimension: 'money' });
  expect(steps).toBe(1);
  const ends = transcript.entries.flatMap((entry) =>
    entry.kind === 'settled' ? [entry.settlement.outcome.status] : [],
  );
  expect(ends).toEqual(['ok']);
  expect(model.requests).toHaveLength(1);
});

test('[K12] if the last request is refused, the turn ends with the reason of its limit', async () => {
  const model = scriptedModel([call, 'never']);
  const { stop } = await runTurn({
    model,
    tools: { look },
    middleware: [refusing(2)],
    budget: { tokens: 20 },
    reserveTokens: 10,
    prompt: 'go',
  });
  expect(stop).toEqual({ reason: 'budget', dimension: 'tokens' });
});

test('a middleware knows the model that is asked', async () => {
  const seen: string[] = [];
  const noting: Middleware = {
    name: 'noting',
    async model(next, _request, { model }) {
      seen.push(`${model.provider}/${model.modelId}`);
      return await next();
    },
  };
  const model = { ...scriptedModel(['Yes.']), provider: 'acme', modelId: 'large' };
  await runTurn({ model, middleware: [noting], prompt: 'go' });
  expect(seen).toEqual(['acme/large']);
});

test('[K11] the usage of a turn has cached tokens and those of reasoning, and is estimated if a part of it is', async () => {
  const usage: LanguageModelV4Usage = {
    inputTokens: { total: 100, noCache: undefined, cacheRead: 60, cacheWrite: undefined },
    outputTokens: { total: 5, text: undefined, reasoning: 3 },
  };
  const estimating: Middleware = {
    name: 'host',
    async model(next, _request, { step }) {
      const reply = await next();
      return step === 1 ? reply : { ...reply, usage: { ...reply.usage, estimated: true } };
    },
  };
  const model = scriptedModel([
    { calls: call, usage },
    { text: 'Yes.', usage },
  ]);
  const result = await runTurn({ model, tools: { look }, middleware: [estimating], prompt: 'go' });
  expect(result.usage).toEqual({
    ...{ inputTokens: 200, outputTokens: 10, totalTokens: 210, cachedTokens: 120, reasoningTokens: 6, estimated: true },
  });
});
