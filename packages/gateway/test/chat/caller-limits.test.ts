import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Api } from '../http/api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { call, chatApi } from './chat-api.ts';

const look = tool({ description: 'Looks.', inputSchema: z.looseObject({}), execute: () => 'Looked.' });

interface Asked {
  readonly config: object;
  readonly terminating: object;
  readonly path?: string;
}

/** A member's run with a model that never ends it. Returns the number of requests to the model, and the response. */
async function runaway(api: Api, model: { readonly requests: readonly unknown[] }, asked: Asked) {
  const { config, terminating, path = '/chat' } = asked;
  const [ada, agent] = [await api.person(), await api.agent('Bot', { tools: ['look'], ...config })];
  await api.space(ada, agent);
  const before = model.requests.length;
  const words = path === '/chat' ? { message: 'Go' } : { prompt: 'Go' };
  const answer = await api.call('POST', path, {
    secret: await api.tokenOf(ada),
    body: { agent, ...words, terminating_config: { tool_ids: ['complete_task'], ...terminating } },
  });
  return [model.requests.length - before, answer.status, answer.body.error?.code];
}

describeWorlds('limits that a caller gives', (open) => {
  test("[C14] a caller's max_invocations lowers the agent's steps and never raises them", async () => {
    const model = scriptedModel(() => call('look'));
    const world = await open({ models: { default: model }, tools: { look } });
    const api = await chatApi(world);
    const config = { limits: { maxSteps: 3 } };
    const ended = [422, 'max_invocations_exceeded'];
    const counts = async (terminating: object, path?: string) =>
      await runaway(api, model, { config, terminating, ...(path === undefined ? {} : { path }) });
    expect(await counts({ max_invocations: 200 })).toEqual([3, ...ended]);
    expect(await counts({})).toEqual([3, ...ended]);
    expect(await counts({ max_invocations: 2 })).toEqual([2, ...ended]);
    expect(await counts({ max_invocations: 200 }, '/chat/add-ai-message')).toEqual([3, ...ended]);
  });

  test("[C14] a caller's contract is limited by the agent's contract and by the gateway's default steps", async () => {
    const model = scriptedModel(() => 'Just text.');
    const world = await open({ models: { default: model }, tools: { look }, agentLimits: { maxSteps: 5 } });
    const api = await chatApi(world);
    const own = { toolIds: ['look'], consecutiveNudges: 2, maxInvocations: 4 };
    const many = { consecutive_nudges: 1_000, max_invocations: 1_000 };
    const nudged = [422, 'max_consecutive_nudges_exceeded'];
    const invoked = [422, 'max_invocations_exceeded'];
    const run = (config: object, terminating: object) => runaway(api, model, { config, terminating });
    // Two nudges are allowed, and the third text ends the run.
    expect(await run({ terminating: own }, many)).toEqual([3, ...nudged]);
    expect(await run({ terminating: { ...own, consecutiveNudges: 9 } }, many)).toEqual([4, ...invoked]);
    expect(await run({ terminating: own }, {})).toEqual([2, ...nudged]);
    expect(await run({}, many)).toEqual([5, ...invoked]);
  });

  test('[C14] a caller may request more invocations than the default if the configuration of the agent allows more steps', async () => {
    const model = scriptedModel(() => call('look'));
    const world = await open({ models: { default: model }, tools: { look } });
    const api = await chatApi(world);
    const run = (terminating: object) => runaway(api, model, { config: { limits: { maxSteps: 70 } }, terminating });
    expect((await run({ max_invocations: 1_000 }))[0]).toBe(70);
    expect((await run({}))[0]).toBe(64);
  });
});
