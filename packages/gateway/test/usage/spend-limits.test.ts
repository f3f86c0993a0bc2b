import type { LanguageModelV4 } from '@ai-sdk/provider';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkConfig } from '../../src/config/check-config.ts';
import { defineAgent } from '../../src/config/define-agent.ts';
import { updateAgent } from '../../src/domain/agents/update-agent.ts';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { pushEvent } from '../../src/domain/inbox/push-event.ts';
import { listRuns } from '../../src/domain/runs/run.ts';
import { currentFailures } from '../../src/domain/spaces/agent-failure.ts';
import { spentOn } from '../../src/domain/usage/spent.ts';
import { dayOf, nextDay } from '../../src/domain/usage/usage-row.ts';
import { fallbackModel } from '../../src/models/fallback-model.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { inboxErrorSchema } from '../../src/transport/http/schemas/inbox-event.ts';
import { chatApi } from '../chat/chat-api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { textsOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import { waitingOf } from '../support/waiting-of.ts';
import type { World } from '../support/world.ts';
import { untilQuiet, usageOf, withoutUsage } from './usage-of.ts';

/** Each request costs 1. */
const PRICES = { m: { input: 1_000, output: 0 } };
const priced = (model: LanguageModelV4): LanguageModelV4 => ({ ...model, provider: 'acme', modelId: 'm' });
const usage = usageOf(1_000, 10);
const saying = (text = 'Yes.') => scriptedModel(() => ({ text, usage }));
/** Calls `look` for ever. */
const calling = () => scriptedModel(() => ({ calls: [{ toolName: 'look', input: {} }], usage }));
const look = {
  executionType: 'internal' as const,
  inputSchema: { type: 'object', properties: {} },
  execution: { value: 'Seen.' },
};

const pendingOf = (world: World, agentId: string) =>
  world.store.db
    .selectFrom('inbox_events')
    .select(['status', 'available_at', 'attempts'])
    .where('thread_id', '=', agentId)
    .orderBy('id')
    .execute();

describeWorlds(
  'spend limits',
  (openAny) => {
    const open = withoutUsage(openAny);
    test('[K12] a run stops with budget when it has spent its limit, and its events are done', async () => {
      const model = calling();
      const world = await open({ models: { default: priced(model) }, tools: { look }, prices: PRICES });
      const ann = await world.person();
      const bot = await world.agent('Bot', { tools: ['look'], limits: { spend: { perRun: 2.5 } } });
      await world.say(await world.space('Lobby', [ann, bot]), ann, 'Go.');
      await untilQuiet(world);
      // 1, 2 and 3 are spent before requests 2, 3 and 4.
      expect(model.requests).toHaveLength(3);
      const { items } = await listRuns(world.store.db, { agentId: bot });
      expect(items).toMatchObject([{ status: 'completed', stop: { reason: 'budget', dimension: 'money' } }]);
      expect(await pendingOf(world, bot)).toMatchObject([{ status: 'done' }]);
    });

    test('[K12] an agent that has spent its daily limit stops, new events wait for the next day, and people and operator are notified once', async () => {
      const model = saying();
      const metrics = createMetrics();
      const world = await open({ models: { default: priced(model) }, prices: PRICES, metrics });
      const [ann, bot] = [await world.person(), await world.agent('Bot', { limits: { spend: { perDay: 2 } } })];
      const [lobby, attic] = [await world.space('Lobby', [ann, bot]), await world.space('Attic', [ann, bot])];
      for (const text of ['1', '2']) {
        await world.say(lobby, ann, text);
        await untilQuiet(world);
      }
      for (const text of ['3', '4', '5']) {
        await world.say(lobby, ann, text);
        await untilQuiet(world);
      }
      await world.say(attic, ann, '6');
      await expect.poll(async () => (await pendingOf(world, bot)).at(-1)?.available_at).toBe(nextDay(Date.now()));
      expect(model.requests).toHaveLength(2);
      const waiting = (await pendingOf(world, bot)).slice(2);
      expect(waiting).toEqual(
        waiting.map(() => ({ status: 'pending', attempts: 0, available_at: nextDay(Date.now()) })),
      );
      expect(waiting).toHaveLength(4);
      // One run was stopped. Later events started none.
      const { items } = await listRuns(world.store.db, { agentId: bot });
      expect(items.map(({ stop }) => stop?.reason)).toEqual(['budget', 'end_turn', 'end_turn']);
      for (const space of [lobby, attic]) {
        const told = (await world.events(`space:${space}`)).filter(({ type }) => type === 'agent.failed');
        expect(told).toHaveLength(1);
        expect(told[0]?.payload).toMatchObject({ entityId: bot, retryAt: nextDay(Date.now()) });
        expect(told[0]?.payload).toMatchObject({
          text: expect.stringMatching(/^The agent has used up what it may spend in a day\. It continues on /),
        });
        expect((await currentFailures(world.store.db, space)).get(bot)?.retryAt).toBe(nextDay(Date.now()));
      }
      const errors = world.logs.filter(({ level }) => level === 'error');
      expect(errors).toHaveLength(1);
      expect(errors[0]?.message).toContain(`Agent "Bot" (${bot}) has spent 2 of 2 USD of today`);
      expect(await metrics.render()).toContain('lastcall_spend_limits_reached_total{scope="agent"} 1');
    });

    test('[K12] waiting events are handled when the limit is raised, and when the day changes', async () => {
      const model = saying();
      const world = await open({ models: { default: priced(model) }, prices: PRICES });
      const [ann, bot] = [await world.person(), await world.agent('Bot', { limits: { spend: { perDay: 1 } } })];
      const lobby = await world.space('Lobby', [ann, bot]);
      await world.say(lobby, ann, '1');
      await untilQuiet(world);
      await world.say(lobby, ann, '2');
      await expect.poll(async () => (await pendingOf(world, bot)).at(-1)?.available_at).toBe(nextDay(Date.now()));
      // A change that does not raise it: the event waits again.
      await world.in((tx) => updateAgent(tx, { agentId: bot, config: { description: 'New.' } }));
      await untilQuiet(world);
      await expect.poll(async () => (await pendingOf(world, bot)).at(-1)?.available_at).toBe(nextDay(Date.now()));
      expect(model.requests).toHaveLength(1);
      await world.in((tx) => updateAgent(tx, { agentId: bot, config: { limits: { spend: { perDay: 2 } } } }));
      await untilQuiet(world);
      expect(model.requests).toHaveLength(2);
      await world.say(lobby, ann, '3');
      await expect.poll(async () => (await pendingOf(world, bot)).at(-1)?.available_at).toBe(nextDay(Date.now()));
      // The operator reads about each limit once.
      expect(world.logs.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
        expect.stringContaining('has spent 1 of 1 USD'),
        expect.stringContaining('has spent 2 of 2 USD'),
      ]);
      // The day changes: the spending is of yesterday, and waiting events are due.
      await world.in(async (tx) => {
        const yesterday = dayOf(tx.now() - 86_400_000);
        for (const table of ['usage', 'usage_requests', 'spend_reached'] as const)
          await tx.db.updateTable(table).set({ day: yesterday }).execute();
        await tx.db
          .updateTable('inbox_events')
          .set({ available_at: tx.now() })
          .where('status', '=', 'pending')
          .execute();
      });
      await untilQuiet(world);
      expect(model.requests).toHaveLength(3);
    });

    test('[K12] an event that waits for an active request that then costs less is handled with the next event', async () => {
      const model = saying();
      const world = await open({ models: { default: priced(model) }, prices: PRICES });
      const [ann, bot] = [await world.person(), await world.agent('Bot', { limits: { spend: { perDay: 5 } } })];
      const lobby = await world.space('Lobby', [ann, bot]);
      const day = dayOf(Date.now());
      const amounts = { requests: 1, input_tokens: 1, cached_tokens: 0, output_tokens: 1, unpriced: 0, estimated: 1 };
      const owner = { run_id: 'another', agent_id: bot, entity_id: '', model: 'm', kind: 'turn', currency: 'USD' };
      const row = { id: `of ${bot}`, day, ...owner, ...amounts, cost: 5, reserved: 1 as const, created_at: Date.now() };
      await world.in((tx) => tx.db.insertInto('usage_requests').values(row).execute());
      await world.say(lobby, ann, '1');
      await expect.poll(async () => (await pendingOf(world, bot)).at(-1)?.available_at).toBe(nextDay(Date.now()));
      expect(model.requests).toHaveLength(0);
      await world.in((tx) => tx.db.updateTable('usage_requests').set({ cost: 1, reserved: 0 }).execute());
      await world.say(lobby, ann, '2');
      await untilQuiet(world);
      expect((await pendingOf(world, bot)).map(({ status }) => status)).toEqual(['done', 'done']);
    });

    test('[K12] a run that is stopped in the middle continues with its events when the limit allows it', async () => {
      const model = calling();
      const world = await open({ models: { default: priced(model) }, tools: { look }, prices: PRICES });
      const ann = await world.person();
      const bot = await world.agent('Bot', { tools: ['look'], limits: { spend: { perDay: 2 } } });
      await world.say(await world.space('Lobby', [ann, bot]), ann, 'Go.');
      await expect
        .poll(() => pendingOf(world, bot))
        .toMatchObject([{ status: 'pending', attempts: 0, available_at: nextDay(Date.now()) }]);
      expect(model.requests).toHaveLength(2);
      // The API says why the event waits.
      const api = await chatApi(world);
      const { items } = await api.done<{ items: { error: unknown }[] }>('GET', `/api/agents/${bot}/inbox`);
      expect(items[0]?.error).toEqual({ reason: 'budget', until: nextDay(Date.now()) });
      expect(inboxErrorSchema.safeParse(items[0]?.error).success).toBe(true);
      const limits = { spend: { perDay: 3, perRun: 1 } };
      await world.in((tx) => updateAgent(tx, { agentId: bot, config: { limits } }));
      await untilQuiet(world);
      expect(model.requests).toHaveLength(3);
      expect(await pendingOf(world, bot)).toMatchObject([{ status: 'done' }]);
      // Otherwise the model could read it as a second request, and repeat what it has done.
      const shown = textsOf(model.requests[2]?.prompt ?? []).flatMap((text) => text.match(/^m1 .*$/m) ?? []);
      expect(shown).toEqual(['m1 Ann: Go.', 'm1 Ann, shown before: Go.']);
    });

    test('[K12] a limit in tokens needs no prices, and conversations count too: they end with budget at once', async () => {
      const model = saying();
      const world = await open({ models: { default: priced(model) } });
      const api = await chatApi(world);
      const agent = await api.agent('Bot', { limits: { spend: { perDayTokens: 1_500 } } });
      const stops = [];
      for (const message of ['1', '2', '3'])
        stops.push((await api.done<{ stop: object }>('POST', '/chat', { agent, message })).stop);
      expect(stops[1]).toMatchObject({ reason: 'end_turn' });
      expect(stops[2]).toEqual({ reason: 'budget', dimension: 'tokens' });
      expect(model.requests).toHaveLength(2);
    });

    test('[K12] if a provider reports no usage, the limit counts estimates', async () => {
      const model = scriptedModel(() => ({ text: 'Yes.', usage: usageOf(0, 0) }));
      const world = await open({ models: { default: priced(model) }, prices: PRICES });
      const api = await chatApi(world);
      const agent = await api.agent('Bot', { limits: { spend: { perDay: 1.5 } } });
      const stops = [];
      // Each message has about 1,000 tokens, which cost 1.
      for (const at of [1, 2, 3]) {
        const message = `${at} ${'x'.repeat(4_000)}`;
        stops.push((await api.done<{ stop: { reason: string } }>('POST', '/chat', { agent, message })).stop.reason);
      }
      expect(stops).toEqual(['end_turn', 'end_turn', 'budget']);
      expect(model.requests).toHaveLength(2);
    });

    test('[K12] each person has a limit over all agents, and others are not affected', async () => {
      const model = saying();
      const world = await open({
        models: { default: priced(model) },
        prices: PRICES,
        personLimits: { spend: { perDay: 2 } },
      });
      const [ann, bob] = [await world.person('Ann'), await world.person('Bob')];
      const [one, two] = [await world.agent('One'), await world.agent('Two')];
      const lobby = await world.space('Lobby', [ann, bob, one]);
      const attic = await world.space('Attic', [ann, bob, two]);
      await world.say(lobby, ann, '1');
      await untilQuiet(world);
      await world.say(attic, ann, '2');
      await untilQuiet(world);
      await world.say(attic, ann, '3');
      await expect.poll(async () => (await pendingOf(world, two)).at(-1)?.available_at).toBe(nextDay(Date.now()));
      await world.say(attic, bob, '4');
      await expect.poll(() => model.requests.length).toBe(3);
      await world.say(lobby, ann, '5');
      await expect.poll(async () => (await pendingOf(world, one)).at(-1)?.available_at).toBe(nextDay(Date.now()));
      await untilQuiet(world);
      expect(model.requests).toHaveLength(3);
      expect((await pendingOf(world, two)).map(({ status }) => status)).toEqual(['done', 'pending', 'done']);
      const errors = world.logs.filter(({ level }) => level === 'error').map(({ message }) => message);
      expect(errors).toHaveLength(1);
      expect(errors[0]).toContain(`Person ${ann} has spent 2 of 2 USD`);
    });

    test("[K12] a person's limit delays only answers to calls that were made for this person", async () => {
      const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
      const model = scriptedModel((_request, invocation) =>
        invocation === 1 ? { calls: [{ toolName: 'pay' }], usage } : { text: 'Yes.', usage },
      );
      const world = await open({
        models: { default: priced(model) },
        tools: { pay },
        prices: PRICES,
        personLimits: { spend: { perDay: 2 } },
      });
      const [ann, bot] = [await world.person(), await world.agent('Bot', { tools: ['pay'] })];
      await world.say(await world.space('Lobby', [ann, bot]), ann, 'Pay.');
      await untilQuiet(world);
      const set = (status: 'active' | 'paused') =>
        world.in((tx) => tx.db.updateTable('agents').set({ status }).where('id', '=', bot).execute());
      await set('paused');
      await answer(world.services, { ...(await waitingOf(world, bot)), answer: { approve: true }, by: { key: true } });
      const event = { type: 'service', source: 'test', name: 'tick', data: null } as const;
      await world.in((tx) => pushEvent(tx, { threadId: bot, eventId: `tick of ${bot}`, event }));
      await set('active');
      await world.in(async (tx) => tx.wake(bot));
      await untilQuiet(world);
      expect(model.requests).toHaveLength(3);
      expect((await pendingOf(world, bot)).map(({ status }) => status)).toEqual(['done', 'pending', 'done']);
    });

    test('[K12] a model of a list that has no price counts at the price of the one that was asked', async () => {
      const overloaded = scriptedModel(() => Object.assign(new Error('Overloaded.'), { statusCode: 503 }));
      const answering = saying();
      const [one, other] = [priced(overloaded), { ...priced(answering), modelId: 'unpriced' }];
      const models = {
        get default(): LanguageModelV4 {
          return fallbackModel(
            [
              { name: 'one', find: () => one },
              { name: 'other', find: () => other },
            ],
            one,
          );
        },
      };
      const world = await open({ models, prices: PRICES });
      const api = await chatApi(world);
      const agent = await api.agent('Bot', { limits: { spend: { perDay: 2 } } });
      const stops = [];
      for (const message of ['1', '2', '3'])
        stops.push((await api.done<{ stop: { reason: string } }>('POST', '/chat', { agent, message })).stop.reason);
      expect(stops).toEqual(['end_turn', 'end_turn', 'budget']);
      expect(answering.requests).toHaveLength(2);
      const { items } = await api.done<{ items: object[] }>('GET', '/api/usage?by=model');
      expect(items).toMatchObject([{ model: 'unpriced', requests: 2, cost: 2, estimated: true }]);
    });

    test('[K12] a sub-agent stops with the limit of its agent', async () => {
      const expert = scriptedModel(() => ({ calls: [{ toolName: 'look', input: {} }], usage }));
      const asking = scriptedModel(() => ({ calls: [{ toolName: 'ask', input: { question: 'Why?' } }], usage }));
      const ask = {
        executionType: 'gateway' as const,
        visible: false,
        inputSchema: { type: 'object', properties: { question: { type: 'string' } } },
        execution: { agentConfig: { instructions: 'Answer.', model: 'expert', tools: ['look'] } },
      };
      const world = await open({
        models: { default: priced(asking), expert: priced(expert) },
        tools: { look, ask },
        prices: PRICES,
      });
      const ann = await world.person();
      const bot = await world.agent('Bot', { tools: ['ask'], limits: { spend: { perRun: 3 } } });
      await world.say(await world.space('Lobby', [ann, bot]), ann, 'Go.');
      await untilQuiet(world);
      expect([asking.requests.length, expert.requests.length]).toEqual([1, 2]);
      expect((await listRuns(world.store.db, { agentId: bot })).items).toMatchObject([
        { stop: { reason: 'budget', dimension: 'money' } },
      ]);
    });

    test('[K12] a turn that a tool runs inside of its call stops with the limit of its agent', async () => {
      const responses: string[] = [];
      const think = tool({
        description: 'Thinks.',
        inputSchema: z.object({}),
        async execute(_input, ctx) {
          const { stop } = await ctx.runTurn({ prompt: 'Deep?', tools: { note }, maxSteps: 9 });
          responses.push(stop.reason);
          return stop.reason;
        },
      });
      const note = tool({ description: 'Notes.', inputSchema: z.object({}), execute: () => 'Noted.' });
      const model = scriptedModel(({ prompt }) => ({
        calls: [{ toolName: textsOf(prompt).includes('Deep?') ? 'note' : 'think', input: {} }],
        usage,
      }));
      const definitions = { thinker: defineAgent({ tools: { think } }) };
      const world = await open({ models: { default: priced(model) }, prices: PRICES, definitions });
      const ann = await world.person();
      const bot = await world.agent('Bot', { definition: 'thinker', limits: { spend: { perRun: 3 } } });
      await world.say(await world.space('Lobby', [ann, bot]), ann, 'Go.');
      await untilQuiet(world);
      expect([model.requests.length, responses]).toEqual([3, ['budget']]);
      expect((await listRuns(world.store.db, { agentId: bot })).items).toMatchObject([
        { stop: { reason: 'budget', dimension: 'money' } },
      ]);
    });

    test('[K12] a model without a price is refused if money is limited, with what to configure', async () => {
      const model = saying();
      const world = await open({ models: { default: priced(model) } });
      const api = await chatApi(world);
      const agent = await api.agent('Bot', { limits: { spend: { perDay: 5 } } });
      const { body } = await api.call('POST', '/chat', { body: { agent, message: 'Hi.' } });
      expect(JSON.stringify(body)).toContain(`Write prices: { 'm': { input: …, output: … } }`);
      expect(model.requests).toEqual([]);
      const [ann, bot] = [await world.person(), await world.agent('Other', { limits: { spend: { perRun: 5 } } })];
      await world.say(await world.space('Lobby', [ann, bot]), ann, 'Hi.');
      const status = () => world.store.db.selectFrom('agents').select('status').where('id', '=', bot).execute();
      await expect.poll(status).toEqual([{ status: 'invalid' }]);
      expect(await pendingOf(world, bot)).toMatchObject([{ status: 'pending' }]);
      expect(model.requests).toEqual([]);
    });

    test('[K12] an agent without limits writes nothing before a request', async () => {
      const rows: unknown[] = [];
      const model = scriptedModel(async () => {
        rows.push(...(await world.store.db.selectFrom('usage_requests').selectAll().execute()));
        return { text: 'Yes.', usage };
      });
      const world = await open({ models: { default: priced(model) }, prices: PRICES });
      const [ann, bot] = [await world.person(), await world.agent('Bot')];
      await world.say(await world.space('Lobby', [ann, bot]), ann, 'Hi.');
      await untilQuiet(world);
      expect(model.requests).toHaveLength(1);
      expect(rows).toEqual([]);
    });

    test('[K12] the request is reserved before it is sent, and the reply replaces the reservation', async () => {
      const seen: { reserved: number; cost: number }[] = [];
      const model = scriptedModel(async () => {
        seen.push(...(await world.store.db.selectFrom('usage_requests').select(['reserved', 'cost']).execute()));
        return { text: 'Yes.', usage };
      });
      const world = await open({ models: { default: priced(model) }, prices: PRICES });
      const [ann, bot] = [await world.person(), await world.agent('Bot', { limits: { spend: { perDay: 5 } } })];
      await world.say(await world.space('Lobby', [ann, bot]), ann, 'Hi.');
      await untilQuiet(world);
      expect(seen).toEqual([{ reserved: 1, cost: expect.any(Number) }]);
      expect(seen[0]?.cost).toBeGreaterThan(0);
      const today = { day: dayOf(Date.now()), currency: 'USD' };
      expect(await spentOn(world.store.db, { scope: 'agent', id: bot }, today)).toEqual({ cost: 1, tokens: 1_010 });
    });
  },
  databases,
);

describe('spend limits in a configuration', () => {
  const problemsOf = (config: object): string => {
    try {
      checkConfig(config);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  const agent = { name: 'Bot', instructions: '', model: 'acme/large' };

  test('[K12] money needs a price for each model that agents name', () => {
    const limited = { ...agent, limits: { spend: { perDay: 5 } } };
    expect(problemsOf({ agents: [limited] })).toContain("Write prices: { 'acme/large': { input: …, output: … } }");
    const prices = { 'acme/large': { input: 1, output: 2 } };
    expect(problemsOf({ agents: [limited], prices })).toBe('');
    expect(problemsOf({ agents: [agent], limits: { agent: { spend: { perRun: 1 } } } })).toContain('has no price');
    expect(problemsOf({ agents: [agent], limits: { person: { spend: { perDay: 1 } } } })).toContain('has no price');
    expect(problemsOf({ agents: [{ ...agent, limits: { spend: { perDayTokens: 5 } } }] })).toBe('');
    expect(problemsOf({ agents: [{ ...agent, model: 'rehearsal', limits: { spend: { perDay: 5 } } }] })).toBe('');
  });

  test('[K12] limits and prices are in one currency', () => {
    const prices = { 'acme/large': { input: 1, output: 2 } };
    const limited = { ...agent, limits: { spend: { perDay: 5, currency: 'EUR' } } };
    expect(problemsOf({ agents: [limited], prices })).toContain(
      'is EUR, and the prices of the configuration are in USD',
    );
    expect(problemsOf({ agents: [limited], prices, currency: 'EUR' })).toBe('');
  });

  test.each([{ perDay: 0 }, { perDay: -1 }, { perDayTokens: 0.5 }, { perWeek: 3 }, { currency: 'euros' }])(
    '%j is refused',
    (spend) => {
      expect(problemsOf({ agents: [{ ...agent, limits: { spend } }] })).not.toBe('');
    },
  );
});
