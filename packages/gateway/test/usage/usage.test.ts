import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { type Middleware, plugin, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { charter, node } from '@lastcall/machines';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/config/define-agent.ts';
import { foldUsage } from '../../src/domain/usage/fold-usage.ts';
import { usageReport } from '../../src/domain/usage/usage-report.ts';
import { fallbackModel } from '../../src/models/fallback-model.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { chatApi } from '../chat/chat-api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { textsOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';
import { untilQuiet, usageOf, withoutUsage } from './usage-of.ts';

const named = (model: LanguageModelV4, modelId: string): LanguageModelV4 => ({ ...model, provider: 'acme', modelId });

/** Replies with this usage, for ever. */
const counting = (usage: LanguageModelV4Usage, modelId = 'm') =>
  named(
    scriptedModel(() => ({ text: 'Yes.', usage })),
    modelId,
  );

/** A stream that ends after these parts, without a finish. */
const partsOf = (...parts: LanguageModelV4StreamPart[]) =>
  new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      for (const part of [{ type: 'text-start', id: '1' } as const, ...parts].slice(parts[0]?.type === 'error' ? 1 : 0))
        controller.enqueue(part);
      controller.close();
    },
  });

const PRICES = { 'acme/m': { input: 1, cached: 0.1, output: 10 }, s: { input: 2, output: 2 } };

const report = (world: World, ...by: ('agent' | 'model' | 'day' | 'entity' | 'kind')[]) =>
  usageReport(world.store.db, { by, now: Date.now() });

describeWorlds(
  'the usage report',
  (openAny) => {
    const open = withoutUsage(openAny);
    test('[K13] has requests, tokens, cached tokens and money by agent, model, day and person', async () => {
      const world = await open({ models: { default: counting(usageOf(1_000, 100, 800)) }, prices: PRICES });
      const [ann, bob, bot] = [await world.person('Ann'), await world.person('Bob'), await world.agent('Bot')];
      const space = await world.space('Lobby', [ann, bob, bot]);
      await world.say(space, ann, 'One?');
      await untilQuiet(world);
      await world.say(space, bob, 'Two?');
      await untilQuiet(world);
      await world.say(space, ann, 'Three?');
      await untilQuiet(world);
      const api = await chatApi(world);
      const day = new Date().toISOString().slice(0, 10);
      // 200 tokens at 1, 800 at 0.1, and 100 at 10, for each million.
      const one = { requests: 1, inputTokens: 1_000, cachedTokens: 800, outputTokens: 100, cost: 0.001_28 };
      const two = { requests: 2, inputTokens: 2_000, cachedTokens: 1_600, outputTokens: 200, cost: 0.002_56 };
      const head = { agent: bot, agentName: 'Bot', model: 'm', day, currency: 'USD', estimated: false };
      const before = await api.done<{ items: object[] }>('GET', '/api/usage?by=agent,model,day,entity');
      expect(before.items).toEqual([
        { ...head, entity: ann, entityName: 'Ann', ...two },
        { ...head, entity: bob, entityName: 'Bob', ...one },
      ]);
      // The report is the same after the requests were added up, and nothing is added twice.
      await foldUsage(world);
      await foldUsage(world);
      expect(await world.store.db.selectFrom('usage_requests').selectAll().execute()).toEqual([]);
      expect(await api.done('GET', '/api/usage?by=agent,model,day,entity')).toEqual(before);
      const { items } = await api.done<{ items: object[] }>('GET', '/api/usage');
      expect(items).toMatchObject([{ day, requests: 3, cost: 0.003_84 }]);
      expect((await report(world)).items).toMatchObject([{ requests: 3 }]);
    });

    test('[K13] sub-agents and summaries are included, and marked', async () => {
      const summaries = scriptedModel((request) => {
        const isSummary = request.tools === undefined;
        const usage = usageOf(isSummary ? 50_000 : 40, 4);
        const results = request.prompt.filter(({ role }) => role === 'tool').length;
        if (isSummary) return { text: 'A summary.', usage };
        return results === 0
          ? { calls: [{ toolName: 'ask', input: { question: 'Why?' } }], usage }
          : { text: 'So.', usage };
      });
      const expert = named(
        scriptedModel(() => ({ text: 'Because.', usage: usageOf(7, 3) })),
        's',
      );
      const ask = {
        executionType: 'gateway' as const,
        visible: false,
        inputSchema: { type: 'object', properties: { question: { type: 'string' } } },
        execution: { agentConfig: { instructions: 'Answer.', model: 'expert' } },
      };
      const world = await open({ models: { default: named(summaries, 'm'), expert }, prices: PRICES, tools: { ask } });
      const ann = await world.person('Ann');
      const bot = await world.agent('Bot', { tools: ['ask'], limits: { consciousnessTokens: 100 } });
      const space = await world.space('Lobby', [ann, bot]);
      for (const text of ['x'.repeat(2_000), 'y'.repeat(2_000)]) {
        await world.say(space, ann, text);
        await untilQuiet(world);
      }
      await expect.poll(async () => (await report(world, 'kind')).items.map(({ kind }) => kind)).toContain('summary');
      const items = (await report(world, 'kind', 'model', 'entity')).items.map(({ kind, model, entity }) => ({
        ...{ kind, model, entity },
      }));
      expect(items).toContainEqual({ kind: 'turn', model: 'm', entity: ann });
      expect(items).toContainEqual({ kind: 'sub-agent', model: 's', entity: ann });
      expect(items).toContainEqual({ kind: 'summary', model: 'm', entity: ann });
    });

    test('[K13] turns that a tool runs inside of its call are included once, and marked', async () => {
      const think = tool({
        description: 'Thinks.',
        inputSchema: z.object({ isStreamed: z.boolean() }),
        execute: async ({ isStreamed }, ctx) => {
          const deeper = tool({
            description: 'Thinks.',
            inputSchema: z.object({}),
            execute: async (_input, at) => (await at.runTurn({ prompt: 'Deepest?' })).response,
          });
          const { response } = await ctx.runTurn({
            prompt: 'Deep?',
            tools: { deeper },
            ...(isStreamed ? { onEvent: () => undefined } : {}),
          });
          return response;
        },
      });
      const model = named(
        scriptedModel(({ prompt }) => {
          const asked = textsOf(prompt);
          const isIn = (text: string): boolean => asked.some((one) => one.includes(text));
          const hasResult = prompt.some(({ role }) => role === 'tool');
          if (isIn('Deepest?')) return { text: 'Bottom.', usage: usageOf(1, 1) };
          if (isIn('Deep?'))
            return hasResult
              ? { text: 'So.', usage: usageOf(20, 2) }
              : { calls: [{ toolName: 'deeper', input: {} }], usage: usageOf(20, 2) };
          return hasResult
            ? { text: 'Yes.', usage: usageOf(300, 3) }
            : {
                calls: [false, true].map((isStreamed) => ({ toolName: 'think', input: { isStreamed } })),
                usage: usageOf(300, 3),
              };
        }),
        'm',
      );
      const definitions = {
        thinker: defineAgent({ tools: { think } }),
        desk: defineAgent({
          machine: charter({ nodes: { desk: node({ instructions: 'Think.', tools: { think } }) } }),
        }),
      };
      const world = await open({ models: { default: model }, prices: PRICES, definitions });
      const ann = await world.person('Ann');
      for (const definition of ['thinker', 'desk']) {
        const bot = await world.agent(definition, { definition });
        await world.say(await world.space(definition, [ann, bot]), ann, 'One?');
        await untilQuiet(world);
      }
      const { items } = await report(world, 'kind', 'entity');
      const by = Object.fromEntries(items.map(({ kind, ...rest }) => [kind, rest]));
      const counted = { entity: ann, estimated: false };
      expect(by).toMatchObject({
        turn: { ...counted, requests: 2, inputTokens: 600 },
        machine: { ...counted, requests: 2, inputTokens: 600 },
        // In each run twice two requests of the turn in the call, and one of the turn inside of that.
        'sub-agent': { ...counted, requests: 12, inputTokens: 164 },
      });
    });

    test.each([false, true])(
      '[K13] the request of a turn that the timeout of its call cuts off is counted (streamed: %s)',
      async (isStreamed) => {
        const think = tool({
          description: 'Thinks.',
          inputSchema: z.object({}),
          timeoutMs: 50,
          execute: async (_input, ctx) =>
            (await ctx.runTurn({ prompt: 'Deep?', ...(isStreamed ? { onEvent: () => undefined } : {}) })).response,
        });
        const model = scriptedModel(async ({ prompt, abortSignal }) => {
          if (textsOf(prompt).includes('Deep?'))
            await new Promise((_resolve, reject) => {
              abortSignal?.addEventListener('abort', () => reject(abortSignal.reason));
            });
          return prompt.some(({ role }) => role === 'tool') ? 'Yes.' : { toolName: 'think', input: {} };
        });
        const definitions = { thinker: defineAgent({ tools: { think } }) };
        const world = await open({ models: { default: named(model, 'm') }, prices: PRICES, definitions });
        const [ann, bot] = [await world.person('Ann'), await world.agent('Bot', { definition: 'thinker' })];
        await world.say(await world.space('Lobby', [ann, bot]), ann, 'One?');
        await untilQuiet(world);
        const { items } = await report(world, 'kind');
        expect(items).toContainEqual(expect.objectContaining({ kind: 'sub-agent', requests: 1, estimated: true }));
      },
    );

    test('[K13] a turn in a call counts for the model of the list that answered', async () => {
      const think = tool({
        description: 'Thinks.',
        inputSchema: z.object({}),
        execute: async (_input, ctx) => {
          const streamed = await ctx.runTurn({ prompt: 'Deep?', onEvent: () => undefined });
          const plain = await ctx.runTurn({ prompt: 'Deep?' });
          return `${plain.response} ${streamed.response}`;
        },
      });
      const first = named(
        scriptedModel(({ prompt }) => {
          if (textsOf(prompt).includes('Deep?')) throw Object.assign(new Error('Overloaded.'), { statusCode: 503 });
          return prompt.some(({ role }) => role === 'tool') ? 'Yes.' : { toolName: 'think', input: {} };
        }),
        'm',
      );
      const second = counting(usageOf(5, 1), 's');
      const list = [first, second].map((model) => ({ name: model.modelId, find: () => model }));
      const models = {
        get default(): LanguageModelV4 {
          return fallbackModel(list, first);
        },
      };
      const world = await open({ models, prices: PRICES, definitions: { thinker: defineAgent({ tools: { think } }) } });
      const [ann, bot] = [await world.person('Ann'), await world.agent('Bot', { definition: 'thinker' })];
      await world.say(await world.space('Lobby', [ann, bot]), ann, 'One?');
      await untilQuiet(world);
      const { items } = await report(world, 'kind', 'model');
      const counted = items.map(({ kind, model, requests }) => [kind, model, requests].join(' ')).toSorted();
      expect(counted).toEqual(['sub-agent s 2', 'turn m 2']);
    });

    test('[K13] requests of a machine are included, and marked', async () => {
      const desk = node({ instructions: 'You are the desk.' });
      const definitions = { desk: defineAgent({ machine: charter({ nodes: { desk } }) }) };
      const world = await open({ models: { default: counting(usageOf(10, 5)) }, prices: PRICES, definitions });
      const [ann, bot] = [await world.person('Ann'), await world.agent('Bot', { definition: 'desk' })];
      await world.say(await world.space('Lobby', [ann, bot]), ann, 'One?');
      await untilQuiet(world);
      expect((await report(world, 'kind', 'entity')).items).toMatchObject([
        { kind: 'machine', entity: ann, requests: 1, inputTokens: 10, outputTokens: 5 },
      ]);
    });

    test('[K13] each request of the middleware of a plugin is included', async () => {
      const twice: Middleware = {
        name: 'twice',
        async model(next) {
          await next();
          return await next();
        },
      };
      const eager = plugin({
        name: 'eager',
        tools: () => ({}),
        getAgentConfig: () => ({ instructions: 'Help.', tools: {} }),
        hooks: { middleware: [twice] },
      });
      const definitions = { eager: defineAgent({ plugins: [eager], mode: () => 'only' }) };
      const world = await open({ models: { default: counting(usageOf(10, 5)) }, definitions });
      const [ann, bot] = [await world.person(), await world.agent('Bot', { definition: 'eager' })];
      await world.say(await world.space('Lobby', [ann, bot]), ann, 'One?');
      await untilQuiet(world);
      expect((await report(world)).items).toMatchObject([{ requests: 2, inputTokens: 20 }]);
    });

    test('[K13] without prices there is no cost, and with a model without a price the sum has none', async () => {
      const models = { default: counting(usageOf(10, 5)), other: counting(usageOf(10, 5), 'unknown') };
      const world = await open({ models, prices: PRICES });
      const api = await chatApi(world);
      await api.done('POST', '/chat', { agent: await api.agent('One'), message: 'Hi.' });
      expect((await report(world)).items).toMatchObject([{ requests: 1, cost: 0.000_06 }]);
      await api.done('POST', '/chat', { agent: await api.agent('Two', { model: 'other' }), message: 'Hi.' });
      expect((await report(world)).items).toMatchObject([{ requests: 2, cost: null }]);
    });

    test('[K11] usage that a provider does not report is estimated, and marked in replies, runs, lists, the report and metrics', async () => {
      const metrics = createMetrics();
      const world = await open({ models: { default: counting(usageOf(0, 0)) }, prices: PRICES, metrics });
      const api = await chatApi(world);
      const agent = await api.agent('Bot');
      const { run_id } = await api.done('POST', '/chat', { agent, message: 'x'.repeat(4_000) });
      const run = await api.done<{ usage: { inputTokens: number } }>('GET', `/api/runs/${run_id}`);
      expect(run.usage).toMatchObject({ estimated: true, outputTokens: 1 });
      expect(run.usage.inputTokens).toBeGreaterThanOrEqual(1_000);
      const list = await api.done<{ items: object[] }>('GET', `/api/runs?agentId=${agent}`);
      expect(list.items).toMatchObject([{ usage: { estimated: true } }]);
      const { items } = await api.done<{ items: { kind: string; entry: object }[] }>(
        'GET',
        `/api/runs/${run_id}/transcript`,
      );
      expect(items.find(({ kind }) => kind === 'reply')?.entry).toMatchObject({ usage: { estimated: true } });
      expect((await report(world)).items).toMatchObject([{ estimated: true, inputTokens: run.usage.inputTokens }]);
      expect(await metrics.render()).toContain('lastcall_estimated_replies_total{model="m"} 1');
    });

    test('a reply that the caller gives asks no model, and is not counted', async () => {
      const world = await open({ models: { default: counting(usageOf(10, 5)) } });
      const api = await chatApi(world);
      await api.done('POST', '/chat/add-ai-message', { agent: await api.agent('Bot'), message: 'Hello.' });
      expect((await report(world)).items).toEqual([]);
    });

    test('invalid usage of a provider cannot break a run', async () => {
      const world = await open({ models: { default: counting(usageOf(1e300, 1.5, 2e300)) } });
      const api = await chatApi(world);
      await api.done('POST', '/chat', { agent: await api.agent('Bot'), message: 'Hi.' });
      expect((await report(world)).items).toMatchObject([{ requests: 1, inputTokens: 1e12, outputTokens: 2 }]);
    });
  },
  databases,
);

describeWorlds('the usage endpoint', (openAny) => {
  const open = withoutUsage(openAny);
  test('[K13] is for keys that may read, and refuses unknown parameters', async () => {
    const world = await open({ models: { default: counting(usageOf(10, 5)) } });
    const api = await chatApi(world);
    const secret = await api.tokenOf(await api.person());
    expect((await api.call('GET', '/api/usage', { secret })).status).toBe(403);
    expect((await api.call('GET', '/api/usage', { secret: null })).status).toBe(401);
    expect((await api.call('GET', '/api/usage', { secret: await api.keyWith('read') })).status).toBe(200);
    for (const query of [
      'by=colour',
      'from=yesterday',
      'from=2026-02-31x',
      'from=2026-02-31',
      'from=2026-02-02&to=2026-02-01',
      'other=1',
    ])
      expect((await api.call('GET', `/api/usage?${query}`)).status).toBe(422);
    const { items } = await api.done<{ items: object[] }>('GET', '/api/usage?from=2020-01-01&to=2020-12-31&by=day');
    expect(items).toEqual([]);
  });

  test('[K13] attempts that the provider refused are not counted, and those that broke off are, with the text that was sent', async () => {
    const good = counting(usageOf(1_000, 10));
    let asked = 0;
    const doStream: LanguageModelV4['doStream'] = async (request) => {
      asked++;
      if (asked === 1)
        throw Object.assign(new Error('Busy.'), { isRetryable: true, responseHeaders: { 'retry-after-ms': '1' } });
      return asked === 2 ? { stream: partsOf({ type: 'text-delta', id: '1', delta: 'Half' }) } : good.doStream(request);
    };
    const world = await open({ models: { default: { ...good, doStream } }, prices: PRICES });
    const [ann, bot] = [await world.person(), await world.agent('Bot')];
    await world.say(await world.space('Lobby', [ann, bot]), ann, 'x'.repeat(8_000));
    await untilQuiet(world);
    expect(asked).toBe(3);
    const [sum] = (await report(world)).items;
    expect(sum).toMatchObject({ requests: 2, outputTokens: 10, estimated: true });
    // The provider counted 1,000 for the last attempt. The text alone has about 2,000 in the one that broke off.
    expect(sum?.inputTokens).toBeGreaterThan(3_000);
  });

  test('[K13] a reply that the provider ends with an error is counted with the text that was sent', async () => {
    const error = (): Error => Object.assign(new Error('Overloaded.'), { statusCode: 400 });
    const written = { type: 'text-delta', id: '1', delta: 'Half' } as const;
    const failing = (...parts: LanguageModelV4StreamPart[]): LanguageModelV4 => ({
      ...counting(usageOf(1, 1)),
      doStream: async () => ({ stream: partsOf(...parts) }),
    });
    const failed = (): LanguageModelV4StreamPart => ({ type: 'error', error: error() });
    const models = { default: failing(failed()), half: failing(written, failed()) };
    const world = await open({ models });
    const ann = await world.person();
    const agents = [await world.agent('At once'), await world.agent('Half', { model: 'half' })];
    for (const agent of agents) await world.say(await world.space('Lobby', [ann, agent]), ann, 'Hi.');
    await world.idle();
    const { items } = await report(world, 'agent');
    // The events of each agent had several attempts.
    expect(items).toMatchObject([{ agent: agents[1], estimated: true, outputTokens: 0 }]);
    expect(items[0]?.requests).toBeGreaterThan(1);
  });

  test('a request that was cut off is counted with the text that was sent', async () => {
    const world = await open({
      models: {
        default: named(
          scriptedModel(() => Object.assign(new Error('Cut.'), { code: 'cut_stream' })),
          'm',
        ),
      },
    });
    const api = await chatApi(world);
    await api.call('POST', '/chat', { body: { agent: await api.agent('Bot'), message: 'x'.repeat(400) } });
    await expect
      .poll(async () => (await report(world)).items)
      .toMatchObject([{ requests: 1, outputTokens: 0, estimated: true }]);
  });
});
