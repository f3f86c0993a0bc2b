import { LastcallError, pending, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { cede, charter, node, spawn, to } from '@lastcall/machines';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answer, answerCall } from '../../src/domain/calls/answer-call.ts';
import { pushServiceEvent } from '../../src/domain/inbox/push-service-event.ts';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { defineAgent } from '../../src/index.ts';
import { startTestGateway, type TestGateway, waitFor } from '../../src/testing/index.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { databases } from '../support/stores.ts';
import { waitingOf } from '../support/waiting-of.ts';
import type { World } from '../support/world.ts';

const agents = [{ name: 'Desk', definition: 'desk' }];

/** The error of a response. */
const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string; message: string } }).error;
const call = (toolName: string, input: object = {}) => [{ toolName, input }];
const ask = async (gateway: TestGateway, message: string, context_id?: string) =>
  await gateway.api('/api/chat', context_id === undefined ? { agent: 'Desk', message } : { message, context_id });

const only = (tools: object, more: object = {}) =>
  defineAgent({
    machine: charter({
      nodes: {
        main: node({ instructions: 'Work.', tools, ...more } as never),
        other: node({ instructions: 'Rest.' }),
      } as never,
    }),
  });

describe('calls of a machine that wait', () => {
  it('[A17] [G32] an answer to a call whose instance has moved on is late', async () => {
    const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
    const go = { description: 'Goes.', inputSchema: z.object({}), execute: () => to('other') };
    const definitions = { desk: only({ pay }, { commands: { go } }) };
    await using gateway = await startTestGateway({ model: scriptedModel([call('pay'), 'Ok.']), definitions, agents });
    const asked = await ask(gateway, 'Pay');
    const [{ tool_call_id: callId }] = asked.pending_calls;
    const [{ id }] = (await gateway.api('/api/agents')).items;
    await gateway.api(`/api/agents/${id}/machine/commands/go?contextId=${asked.context_id}`, {});
    expect((await gateway.api('/api/pending')).items).toEqual([]);
    const late = await gateway.request(`/api/runs/${asked.run_id}/tool-results`, { callId, approve: true });
    expect([late.status, (await errorOf(late)).code]).toEqual([410, 'cancelled']);
  });

  it('[A17] [G32] a call whose instance moves on in the same reply cannot be approved for the tool of another node', async () => {
    const paid: string[] = [];
    const pays = (whom: string) =>
      tool({
        description: 'Pays.',
        inputSchema: z.object({}),
        approval: true,
        execute: () => `${paid.push(whom)} paid.`,
      });
    const shop = node({ instructions: 'Sell.', tools: { pay: pays('a customer') }, transitions: { bank: 'bank' } });
    const bank = node({ instructions: 'Bank.', tools: { pay: pays('everyone') } });
    const desk = defineAgent({ machine: charter({ nodes: { shop, bank } }) });
    const model = scriptedModel([[...call('pay'), ...call('transition_bank')], 'I am the bank.', 'I did not pay.']);
    await using gateway = await startTestGateway({ model, definitions: { desk }, agents });
    const asked = await ask(gateway, 'Pay');
    expect(asked.response).toBe('I am the bank.');
    expect((await gateway.api('/api/pending')).items).toEqual([]);
    const { items } = await gateway.api(`/api/runs/${asked.run_id}/transcript`);
    const callId = items.find((one: { entry: { kind: string } }) => one.entry.kind === 'pending').entry.settlement
      .callId;
    const late = await gateway.request(`/api/runs/${asked.run_id}/tool-results`, { callId, approve: true });
    expect([late.status, (await errorOf(late)).code]).toEqual([410, 'cancelled']);
    expect((await ask(gateway, 'And?', asked.context_id)).response).toBe('I did not pay.');
    expect(paid).toEqual([]);
  });

  it('[A17] the answer to a question of a tool continues its call', async () => {
    const greet = tool({
      description: 'Greets.',
      inputSchema: z.object({}),
      execute: (_input, { answer }) => (answer === undefined ? pending({ asks: true }) : { answer }),
    });
    const model = scriptedModel([call('greet'), 'Done.']);
    await using gateway = await startTestGateway({ model, definitions: { desk: only({ greet }) }, agents });
    const asked = await ask(gateway, 'Greet me.');
    const [{ tool_call_id: callId }] = asked.pending_calls;
    await gateway.api(`/api/runs/${asked.run_id}/tool-results`, { callId, result: 'Ada' });
    await expect.poll(async () => (await gateway.api('/api/runs?status=completed')).items.length).toBe(2);
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('Ada');
  });

  it('[A17] an approval with another input runs the call with it', async () => {
    const paid: number[] = [];
    const pay = tool({
      description: 'Pays.',
      inputSchema: z.object({ amount: z.number() }),
      approval: true,
      execute: ({ amount }) => `Paid ${paid.push(amount)}.`,
    });
    const model = scriptedModel([call('pay', { amount: 900 }), 'Done.']);
    await using gateway = await startTestGateway({ model, definitions: { desk: only({ pay }) }, agents });
    const asked = await ask(gateway, 'Pay');
    const [{ tool_call_id: callId }] = asked.pending_calls;
    await gateway.api(`/api/runs/${asked.run_id}/tool-results`, { callId, approve: true, input: { amount: 9 } });
    await expect.poll(() => paid).toEqual([9]);
  });
});

it.each(['approval', 'result'] as const)(
  '[A17] a machine whose call was cancelled while it waited (for %s) goes on with the next message',
  async (kind) => {
    const tools = {
      approval: {
        pay: tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' }),
      },
      result: { pay: tool({ description: 'Pays.', inputSchema: z.object({}), execute: () => pending() }) },
    };
    const model = scriptedModel([call('pay'), 'I cannot pay now.']);
    await using gateway = await startTestGateway({
      model,
      definitions: { desk: only(tools[kind]) },
      agents,
      spaces: [{ name: 'Office', agents: ['Desk'], people: [{ name: 'Ada' }, { name: 'Ben' }] }],
      tuning: { sweepMs: 250 },
    });
    const { api } = gateway;
    const [{ id: office }] = (await api('/api/spaces')).items;
    const people = (await api('/api/entities?kind=human')).items as { id: string; displayName: string }[];
    const idOf = (name: string) => people.find(({ displayName }) => displayName === name)?.id;
    const messages = `/api/spaces/${office}/messages`;
    await api(messages, { entityId: idOf('Ada'), text: 'Pay my bill.' });
    await waitFor(async () => (await api('/api/runs?status=waiting')).items[0]);
    // Her erasure cancels what waits in the run that she started.
    const { id: erasure } = await api(`/api/entities/${idOf('Ada')}`, undefined, { method: 'DELETE' });
    await waitFor(async () => (await api(`/api/erasures/${erasure}`)).status === 'done', { timeoutMs: 30_000 });
    expect((await api('/api/pending')).items).toEqual([]);
    await api(messages, { entityId: idOf('Ben'), text: 'And mine?' });
    const last = async () => (await api(messages)).items.at(-1).text;
    await expect.poll(last, { timeout: 10_000 }).toBe('I cannot pay now.');
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('The call was cancelled before anyone answered.');
    const [{ id: desk }] = (await api('/api/agents')).items;
    expect((await api(`/api/agents/${desk}/machine`)).waiting).toEqual([]);
  },
  60_000,
);

/** Lets the waiting call expire. */
async function expire(world: World, bot: string): Promise<void> {
  await world.in((tx) =>
    tx.db
      .updateTable('calls')
      .set({ expires_at: tx.now() - 1 })
      .where('agent_id', '=', bot)
      .where('wait_status', '=', 'pending')
      .execute(),
  );
}

/** Takes the thread from the worker, as if it had died. */
async function killWorkerOf(world: World, bot: string): Promise<void> {
  await world.in((tx) =>
    tx.db
      .updateTable('threads')
      .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_owner: null, lease_until: 0 }))
      .where('id', '=', bot)
      .execute(),
  );
}

const cards = (world: World, space: string) =>
  world.store.db
    .selectFrom('messages')
    .select('status')
    .where('space_id', '=', space)
    .where('kind', '=', 'tool')
    .execute();

const runsOf = async (world: World, bot: string) =>
  (
    await world.store.db.selectFrom('runs').select('status').where('thread_id', '=', bot).orderBy('number').execute()
  ).map(({ status }) => status);

describeWorlds(
  'calls of a machine',
  (open) => {
    it('[A17] a call that is not approved in time is denied, and the machine continues', async () => {
      const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
      const model = scriptedModel([call('pay'), 'Never mind.']);
      const world = await open({ models: { default: model }, definitions: { desk: only({ pay }) } });
      const { ada, bot, space } = await lobby(world, { definition: 'desk' }, { isIn: true });
      await world.say(space, ada, 'Pay');
      await expect.poll(() => cards(world, space)).toEqual([{ status: 'requires_action' }]);
      await expire(world, bot);
      await expect.poll(() => runsOf(world, bot)).toEqual(['completed', 'completed']);
      expect(JSON.stringify(model.requests[1]?.prompt)).toContain('No one answered in time.');
    });

    it('[A17] a call is shown as its node has the tool, also if another agent was in a node with another tool of that name', async () => {
      const inputSchema = z.object({});
      const pay = tool({ description: 'Pays.', inputSchema, execute: () => 'Paid.' });
      const safe = tool({ description: 'Pays.', inputSchema, approval: true, execute: () => 'Paid.' });
      const lock = { description: 'Locks.', inputSchema, targets: ['locked'], handler: () => to('locked') };
      const nodes = {
        free: node({ instructions: 'Be free.', tools: { pay }, transitions: { lock } }),
        locked: node({ instructions: 'Be locked.', tools: { pay: safe } }),
      };
      const desk = defineAgent({ machine: charter({ nodes }), root: 'free' });
      const model = scriptedModel([call('transition_lock'), 'Locked.', call('pay'), 'Paid.']);
      const world = await open({ models: { default: model }, definitions: { desk } });
      for (const _agent of [1, 2]) {
        const { ada, space } = await lobby(world, { definition: 'desk' }, { isIn: true });
        await world.say(space, ada, 'Go.');
        await world.idle();
        expect(await cards(world, space)).toEqual([]);
      }
      expect(model.requests).toHaveLength(4);
    });

    it('[A17] a person who answers one of two calls without writing a message gets no notice about a message', async () => {
      const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
      const model = scriptedModel([[...call('pay'), ...call('pay')], 'Done.']);
      const world = await open({ models: { default: model }, definitions: { desk: only({ pay }) } });
      const { ada, bot, space } = await lobby(world, { definition: 'desk', replies: 'text' }, { isIn: true });
      await world.say(space, ada, 'Pay twice.');
      await world.idle();
      const { callId, runId } = await waitingOf(world, bot);
      await world.in(async (tx) => {
        await pushServiceEvent(tx, { agentId: bot, source: 'shop', name: 'opened', data: {} });
        await answerCall(tx, { runId, callId, answer: { approve: true }, by: { entityId: ada } });
      });
      await world.idle();
      expect(await runsOf(world, bot)).toHaveLength(2);
      const said = await world.store.db.selectFrom('messages').selectAll().where('space_id', '=', space).execute();
      expect(JSON.stringify(said)).not.toContain('I have your message');
    });

    it('[A17] a card that asks goes on asking while the machine works on another event', async () => {
      const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
      const worker = node({ worker: true, instructions: 'You pay.', tools: { pay } });
      const boss = node({
        instructions: 'You are the boss.',
        transitions: { hire: { description: 'Hires.', targets: ['worker'], handler: () => spawn('worker') } },
        commands: { nudge: { description: 'Nudges.', inputSchema: z.object({}), execute: () => 'Nudged.' } },
      });
      const model = scriptedModel(({ prompt }) =>
        String(prompt[0]?.content).startsWith('You pay.') ? call('pay') : call('transition_hire'),
      );
      const desk = defineAgent({ machine: charter({ nodes: { boss, worker } }) });
      const world = await open({ models: { default: model }, definitions: { desk } });
      const { ada, bot, space } = await lobby(world, { definition: 'desk' }, { isIn: true });
      await world.say(space, ada, 'Pay');
      await expect.poll(() => cards(world, space)).toEqual([{ status: 'requires_action' }]);
      await world.idle();
      await world.say(space, ada, 'Are you there?');
      await expect.poll(() => runsOf(world, bot)).toEqual(['completed', 'completed']);
      const types = (await world.events(spaceStream(space))).map(({ type }) => type);
      expect(types).toContain('tool-call.requires-action');
      expect(types).not.toContain('tool-call.cancelled');
      expect(await cards(world, space)).toEqual([{ status: 'requires_action' }]);
    });

    it('[A17] the card of a call is cancelled if its instance moves on to a node without its tool', async () => {
      const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
      const shop = node({ instructions: 'Sell.', tools: { pay }, transitions: { rest: 'rest' } });
      const desk = defineAgent({ machine: charter({ nodes: { shop, rest: node({ instructions: 'Rest.' }) } }) });
      const model = scriptedModel([[...call('pay'), ...call('transition_rest')], 'I rest.']);
      const world = await open({ models: { default: model }, definitions: { desk } });
      const { ada, bot, space } = await lobby(world, { definition: 'desk' }, { isIn: true });
      await world.say(space, ada, 'Pay');
      await expect.poll(() => runsOf(world, bot)).toEqual(['completed']);
      expect(await cards(world, space)).toEqual([{ status: 'cancelled' }]);
    });

    it('[G41] the space gets the cancellation of a message whose worker died', async () => {
      const after = scriptedModel(['Never mind.']);
      const begun = Promise.withResolvers<void>();
      let requests = 0;
      const doStream: typeof after.doStream = async (options) => {
        if (requests++ > 0) return await after.doStream(options);
        const stream = new ReadableStream({
          start(controller) {
            controller.enqueue({ type: 'stream-start', warnings: [] });
            controller.enqueue({ type: 'tool-input-start', id: 'm', toolName: 'send_message' });
            controller.enqueue({ type: 'tool-input-delta', id: 'm', delta: '{"text":"Hel' });
            begun.resolve();
          },
        });
        return { stream };
      };
      const limits = { leaseMs: 600, graceMs: 500 };
      const world = await open({
        models: { default: { ...after, doStream } },
        definitions: { desk: only({}) },
        limits,
      });
      const { ada, bot, space } = await lobby(world, { definition: 'desk' }, { isIn: true });
      const types = async () => (await world.events(spaceStream(space))).map(({ type }) => type);
      await world.say(space, ada, 'Go');
      await begun.promise;
      await expect.poll(types).toContain('message.delta');
      await killWorkerOf(world, bot);
      await expect.poll(() => runsOf(world, bot), { timeout: 10_000 }).toEqual(['completed']);
      expect(await types()).toContain('message.cancelled');
    });

    it('[A16] [A17] an approved call whose run failed while it ran has ended for the machine too, which does not wait for it', async () => {
      let paid = 0;
      const inside = Promise.withResolvers<void>();
      const pay = tool({
        description: 'Pays.',
        inputSchema: z.object({}),
        approval: true,
        execute: async () => {
          paid++;
          inside.resolve();
          return await new Promise<never>(() => {});
        },
      });
      const model = scriptedModel([call('pay'), 'I do not know.']);
      let isBroken = false;
      const models = {
        get default() {
          if (isBroken) throw new LastcallError('model', 'The model has no key.');
          return model;
        },
      };
      const limits = { leaseMs: 600, graceMs: 500 };
      const world = await open({ models, definitions: { desk: only({ pay }) }, limits });
      const { ada, bot, space } = await lobby(world, { definition: 'desk' }, { isIn: true });
      await world.say(space, ada, 'Pay');
      await world.idle();
      await answer(world.services, { ...(await waitingOf(world, bot)), answer: { approve: true }, by: { key: true } });
      await inside.promise;
      isBroken = true;
      await killWorkerOf(world, bot);
      await expect.poll(() => runsOf(world, bot), { timeout: 10_000 }).toEqual(['completed', 'failed']);
      expect(await cards(world, space)).toEqual([{ status: 'error' }]);
      isBroken = false;
      await world.say(space, ada, 'Did you?');
      await expect.poll(() => runsOf(world, bot), { timeout: 10_000 }).toEqual(['completed', 'failed', 'completed']);
      expect(paid).toBe(1);
      expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('whether it took effect is unknown');
      expect(await cards(world, space)).toEqual([{ status: 'error' }]);
    });

    it('[A16] the calls that a failed run left open have ended for the machine too: none runs later, and none ends twice', async () => {
      const effects: string[] = [];
      const inside = Promise.withResolvers<void>();
      const weigh = tool({
        description: 'Weighs.',
        inputSchema: z.object({}),
        execute: async () => {
          effects.push('weighed');
          inside.resolve();
          return await new Promise<never>(() => {});
        },
      });
      const send = tool({ description: 'Sends.', inputSchema: z.object({}), execute: () => effects.push('sent') });
      const models = {
        default: scriptedModel(({ prompt }) =>
          JSON.stringify(prompt).includes('"toolName":"weigh"')
            ? 'Done.'
            : [
                { toolName: 'weigh', input: {} },
                { toolName: 'send', input: {} },
              ],
        ),
      };
      let isBroken = false;
      const model = {
        get default() {
          if (isBroken) throw new LastcallError('model', 'The model has no key.');
          return models.default;
        },
      };
      const world = await open({
        models: model,
        definitions: { desk: only({ weigh, send }) },
        limits: { leaseMs: 600, graceMs: 500 },
      });
      const { ada, bot, space } = await lobby(world, { definition: 'desk' }, { isIn: true });
      await world.say(space, ada, 'Go');
      await inside.promise;
      isBroken = true;
      await killWorkerOf(world, bot);
      await expect.poll(() => runsOf(world, bot), { timeout: 10_000 }).toEqual(['failed']);
      isBroken = false;
      await world.say(space, ada, 'Again');
      await expect.poll(() => runsOf(world, bot), { timeout: 10_000 }).toEqual(['failed', 'completed']);
      expect(effects).toEqual(['weighed']);
      const calls = await world.store.db
        .selectFrom('calls')
        .select(['tool_name', 'status', 'outcome_status'])
        .where('thread_id', '=', bot)
        .orderBy('index')
        .execute();
      expect(calls).toEqual([
        { tool_name: 'weigh', status: 'settled', outcome_status: 'unknown' },
        { tool_name: 'send', status: 'settled', outcome_status: 'cancelled' },
      ]);
      const ends = await world.store.db
        .selectFrom('transcript_entries')
        .select('seq')
        .where('thread_id', '=', bot)
        .where('kind', '=', 'settled')
        .execute();
      expect(ends).toHaveLength(2);
      const sent = JSON.stringify(models.default.requests.at(-1)?.prompt);
      expect(sent).toContain('whether it took effect is unknown');
      expect(sent).toContain('Cancelled: the run failed');
    });
  },
  databases,
);

it('[A15] a run that has used its tokens is complete, as that of a turn', async () => {
  const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'Nothing.' });
  const limited = [{ name: 'Desk', definition: 'desk', limits: { tokensPerCycle: 50 } }];
  const model = scriptedModel(() => call('look'));
  await using gateway = await startTestGateway({ model, definitions: { desk: only({ look }) }, agents: limited });
  const { stop, error } = await ask(gateway, 'Look');
  expect(error).toBeUndefined();
  expect(stop).toEqual({ reason: 'budget', dimension: 'tokens' });
});

it('a node that only a handler returns cannot have a tool with the name of a built-in tool', async () => {
  const send_message = tool({ description: 'Sends.', inputSchema: z.object({}), execute: () => 'Sent.' });
  const hidden = node({ instructions: 'Send.', tools: { send_message } });
  const open = node({
    instructions: 'Go on.',
    transitions: { next: { description: 'Goes on.', handler: () => to(hidden) } },
  });
  const desk = defineAgent({ machine: charter({ nodes: { open } }) });
  const model = scriptedModel([call('transition_next'), call('send_message')]);
  await using gateway = await startTestGateway({ model, definitions: { desk }, agents });
  const { error } = await ask(gateway, 'Send');
  expect(JSON.stringify(error)).toContain('built-in tool of that name');
});

it('a worker that cedes ends its own calls that wait', async () => {
  const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
  const worker = node({
    worker: true,
    instructions: 'You pay.',
    tools: { pay },
    transitions: { report: { description: 'Reports.', handler: () => cede('Done.') } },
  });
  const boss = node({
    instructions: 'You are the boss.',
    transitions: { hire: { description: 'Hires.', targets: ['worker'], handler: () => spawn('worker') } },
  });
  const model = scriptedModel(({ prompt }) => {
    if (String(prompt[0]?.content).startsWith('You pay.'))
      return [
        { toolName: 'pay', input: {} },
        { toolName: 'transition_report', input: {} },
      ];
    return JSON.stringify(prompt).includes('has finished') ? 'Fine.' : call('transition_hire');
  });
  const desk = defineAgent({ machine: charter({ nodes: { boss, worker } }) });
  await using gateway = await startTestGateway({ model, definitions: { desk }, agents });
  const { response } = await ask(gateway, 'Go');
  expect(response).toBe('Fine.');
  expect((await gateway.api('/api/pending')).items).toEqual([]);
});

it('[A22] a request that must have no effects gets no tools with effects from a node', async () => {
  const look = tool({ description: 'Looks.', inputSchema: z.object({}), effects: 'none', execute: () => 'Nothing.' });
  const pay = tool({ description: 'Pays.', inputSchema: z.object({}), execute: () => 'Paid.' });
  const model = scriptedModel(['A title.']);
  await using gateway = await startTestGateway({ model, definitions: { desk: only({ look, pay }) }, agents });
  await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.secretKey}`,
      'content-type': 'application/json',
      'x-lastcall-effects': 'none',
    },
    body: JSON.stringify({ model: 'Desk', messages: [{ role: 'user', content: 'A title for this chat?' }] }),
  });
  const names = model.requests[0]?.tools?.map(({ name }) => name);
  expect(names).toContain('look');
  expect(names).not.toContain('pay');
});

it('metrics count the calls of a node by tool name, and invented names under one label', async () => {
  const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'Nothing.' });
  const model = scriptedModel([call('look'), call('made_up'), 'Done.']);
  await using gateway = await startTestGateway({ model, definitions: { desk: only({ look }) }, agents });
  await ask(gateway, 'Look');
  const metrics = await (await gateway.request('/metrics')).text();
  expect(metrics).toMatch(/tool="look"/);
  expect(metrics).not.toContain('made_up');
});

it('[A22] a run that is not saved leaves the machine of its conversation unchanged', async () => {
  const go = { description: 'Goes.', inputSchema: z.object({}), handler: () => to('other') };
  const model = scriptedModel(['One.', call('transition_go'), 'Two.', 'Three.']);
  const definitions = { desk: only({}, { transitions: { go } }) };
  await using gateway = await startTestGateway({ model, definitions, agents });
  const { context_id } = await ask(gateway, 'Hello');
  const unsaved = await gateway.api('/api/chat', { message: 'Go', context_id, save: false });
  expect(unsaved.response).toBe('Two.');
  expect((await ask(gateway, 'And now?', context_id)).response).toBe('Three.');
  expect(String(model.requests.at(-1)?.prompt[0]?.content)).toContain('Work.');
  expect(JSON.stringify(model.requests.at(-1)?.prompt)).not.toContain('Two.');
});
