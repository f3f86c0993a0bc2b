import { filterToolSet, planningSection, section, slice, tool } from '@lastcall/core';
import { plugin, prompt } from '@lastcall/core/prompt';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/index.ts';
import { startTestGateway } from '../../src/testing/index.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { add_item, adding, ask, cart, inbox, LONG, ping, withSummaries } from './shop.ts';

const agents = [{ name: 'Clerk', definition: 'clerk' }];

const refund = tool({ description: 'Refunds.', inputSchema: z.object({}), effects: 'session', execute: () => 'done' });

const refunds = section({
  key: 'refunds',
  title: 'Refunds',
  visibility: 'summary',
  summary: 'How to refund.',
  template: 'Refund within 30 days.',
  tools: { refund },
});

const folded = defineAgent({ instructions: prompt({ ns: 'shop', key: 'clerk', sections: [refunds] }) });
const opening = [{ toolName: 'open_sections', input: { keys: ['refunds'] } }];
const namesOf = (request: { readonly tools?: readonly { readonly name: string }[] | undefined } | undefined) =>
  request?.tools?.map(({ name }) => name) ?? [];

describe('sections of an agent', () => {
  it('[A11] a section that the agent opened stays open in later runs, until the transcript is compacted, and the agent reads that', async () => {
    const refunding = [{ toolName: 'refund', input: {} }];
    const model = withSummaries(scriptedModel([opening, 'Open.', refunding, LONG, 'Closed.']));
    await using gateway = await startTestGateway({
      model,
      definitions: { clerk: folded },
      agents: [{ name: 'Clerk', definition: 'clerk', limits: { consciousnessTokens: 1_000 } }],
    });
    const { context_id } = await gateway.api('/api/chat', ask('Open it.'));
    await gateway.api('/api/chat', ask('Refund.', { context_id }));
    await gateway.api('/api/chat', ask('And now?', { context_id }));
    const [first, second, third, , fifth] = model.requests;
    expect(namesOf(first)).not.toContain('refund');
    expect(String(first?.prompt[0]?.content)).toContain('How to refund.');
    expect(namesOf(second)).toContain('refund');
    expect(namesOf(third)).toContain('refund');
    expect(String(third?.prompt[0]?.content)).toContain('Refund within 30 days.');
    expect(namesOf(fifth)).not.toContain('refund');
    expect(JSON.stringify(fifth?.prompt)).toContain('The sections that you had opened are closed again');
  });

  it('[A11] the system text of sections still explains the frames with the tag, in each step', async () => {
    const model = scriptedModel([opening, 'Open.']);
    await using gateway = await startTestGateway({ model, definitions: { clerk: folded }, agents });
    const id = await ping(gateway);
    await expect.poll(() => inbox(gateway, id, 'done')).toHaveLength(1);
    for (const { prompt: sent } of model.requests) {
      const system = String(sent[0]?.content);
      const [, tag] = /<inbox-([\w-]+)>/.exec(system) ?? [];
      expect(tag).not.toBe('hidden');
      expect(JSON.stringify(sent.slice(1))).toContain(`<inbox-${tag}`);
      expect(JSON.stringify(sent.at(-1))).toContain(`<situation-${tag}`);
    }
    expect(model.requests).toHaveLength(2);
  });

  it('[A12] a plan is kept across runs and compactions', async () => {
    const definition = defineAgent({
      instructions: prompt({ ns: 'shop', key: 'clerk', sections: [planningSection()] }),
    });
    const steps = ['Ask', 'Deliver'];
    const planning = [{ toolName: 'planning_setup_plan', input: { objective: 'Sell a chair', initial_steps: steps } }];
    const model = withSummaries(scriptedModel([planning, LONG, 'Going on.']));
    await using gateway = await startTestGateway({
      model,
      definitions: { clerk: definition },
      agents: [{ name: 'Clerk', definition: 'clerk', limits: { consciousnessTokens: 1_000 } }],
    });
    const { context_id } = await gateway.api('/api/chat', ask('Plan.'));
    await gateway.api('/api/chat', ask('Go on.', { context_id }));
    const [{ id }] = (await gateway.api('/api/agents')).items;
    const { slices } = await gateway.api(`/api/agents/${id}/session?contextId=${context_id}`);
    expect(JSON.stringify(slices)).toContain('Sell a chair');
  });
});

describe('modes of an agent', () => {
  const places = slice('place', {
    initial: { at: 'shop' as 'shop' | 'street' },
    on: { Moved: (_state, { to }: { type: 'Moved'; to: 'shop' | 'street' }) => ({ at: to }) },
  });
  const move = tool({
    description: 'Moves.',
    inputSchema: z.object({ to: z.string() }),
    effects: 'session',
    slices: [places],
    execute({ to }, { session }) {
      session.dispatch({ type: 'Moved', to });
      return to;
    },
  });
  const finished: string[] = [];
  const world = plugin({
    name: 'world',
    tools: () => ({ move }),
    getAgentConfig: (_ctx, mode: string, tools) => ({
      instructions: `You are in the ${mode}.`,
      tools: mode === 'shop' ? { move: tools.move as typeof move, add_item } : { move: tools.move as typeof move },
    }),
    hooks: { onStepFinish: ({ text }) => void finished.push(text) },
  });
  const definition = defineAgent({
    tools: { add_item: { tool: add_item, visible: false } },
    slices: [places, cart],
    plugins: [world],
    modes: ['shop', 'street'],
    mode: ({ session }) => session.read(places).at,
  });

  it('[A13] the mode is chosen at the start of each run, offers only its own tools and instructions, and is recorded', async () => {
    finished.length = 0;
    const model = scriptedModel([[{ toolName: 'move', input: { to: 'street' } }], 'Out.', 'On the street.']);
    await using gateway = await startTestGateway({ model, definitions: { clerk: definition }, agents });
    const { context_id } = await gateway.api('/api/chat', ask('Leave.'));
    await gateway.api('/api/chat', ask('Where are you?', { context_id }));
    const [first, second, third] = model.requests;
    expect(namesOf(first)).toEqual(expect.arrayContaining(['move', 'add_item']));
    expect(String(first?.prompt[0]?.content)).toContain('You are in the shop.');
    // The mode stays the same for the whole run.
    expect(String(second?.prompt[0]?.content)).toContain('You are in the shop.');
    expect(namesOf(third)).toContain('move');
    expect(namesOf(third)).not.toContain('add_item');
    expect(String(third?.prompt[0]?.content)).toContain('You are in the street.');
    const { items } = await gateway.api('/api/runs');
    expect(items.map(({ mode }: { mode: string }) => mode)).toEqual(['street', 'shop']);
    expect(finished).toEqual(['', 'Out.', 'On the street.']);
  });

  it('[A13] a request that must have no effects gets no tools with effects, not from the mode either', async () => {
    const model = scriptedModel(['A title.']);
    await using gateway = await startTestGateway({ model, definitions: { clerk: definition }, agents });
    const { status } = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.secretKey}`,
        'content-type': 'application/json',
        'x-lastcall-effects': 'none',
      },
      body: JSON.stringify({ model: 'Clerk', messages: [{ role: 'user', content: 'A title for this chat?' }] }),
    });
    expect(status).toBe(200);
    expect(namesOf(model.requests[0])).not.toContain('move');
  });

  it('[A13] a mode that cannot work is refused when the gateway starts', () => {
    const broken = plugin({
      name: 'broken',
      tools: () => ({}),
      getAgentConfig: (_ctx, mode: string) => ({ instructions: `Use add_item in ${mode}.`, tools: {} }),
    });
    const define = () => defineAgent({ tools: { add_item }, plugins: [broken], modes: ['shop'], mode: () => 'shop' });
    expect(define).toThrow('plugins cannot be used');
  });

  it('[A13] a mode that does not exist fails the run with a sentence', async () => {
    const lost = defineAgent({ plugins: [world], mode: () => '', tools: { add_item } });
    await using gateway = await startTestGateway({ definitions: { clerk: lost }, agents });
    const answer = await gateway.api('/api/chat', ask('Hello.'));
    expect(JSON.stringify(answer)).toContain('must return the name of a mode');
  });
  it('[A13] a run that is taken over and whose mode is gone makes the agent invalid, and its event waits until the mode is back', async () => {
    const home = await scratchFolder('mode');
    const place = (at: string, ...known: readonly string[]) => {
      const here = plugin({
        name: 'here',
        tools: () => ({}),
        getAgentConfig(_ctx, mode: string) {
          if (!known.includes(mode)) throw new Error(`There is no place "${mode}".`);
          return { instructions: `You are in the ${mode}.`, tools: {} };
        },
      });
      return { clerk: defineAgent({ plugins: [here], mode: () => at }) };
    };
    let id = '';
    {
      const asked = Promise.withResolvers<void>();
      const model = scriptedModel(() => {
        asked.resolve();
        return new Promise<never>(() => {});
      });
      const old = { definitions: place('cellar', 'cellar'), agents, home, model, limits: { graceMs: 50 } };
      await using gateway = await startTestGateway(old);
      id = await ping(gateway);
      await asked.promise;
    }
    {
      await using gateway = await startTestGateway({ definitions: place('street', 'street'), agents, home });
      await expect.poll(() => gateway.api(`/api/agents/${id}`)).toMatchObject({ status: 'invalid' });
      expect(JSON.stringify(await gateway.api(`/api/agents/${id}`))).toContain('began in mode');
      expect(await inbox(gateway, id, 'pending')).toHaveLength(1);
    }
    await using gateway = await startTestGateway({ definitions: place('cellar', 'cellar'), agents, home });
    await expect.poll(() => inbox(gateway, id, 'done')).toHaveLength(1);
  });

  it('[A13] a promise of a mode fails the run with a sentence, also if it rejects', async () => {
    const mode = (() => Promise.reject(new Error('No mode.'))) as unknown as () => string;
    const lost = defineAgent({ plugins: [world], mode, tools: { add_item } });
    await using gateway = await startTestGateway({ definitions: { clerk: lost }, agents });
    const answer = await gateway.api('/api/chat', { agent: 'Clerk', message: 'Hello' });
    expect(JSON.stringify(answer)).toContain('and no promise of one');
  });
});

describe('observe', () => {
  const looks = (observe: () => string) =>
    defineAgent({ tools: { add_item }, observe: (session) => `${observe()}${session.read(cart).join()}` });

  it('shows the session of each step last in the request, in a conversation and for an agent, and stores none of it', async () => {
    const model = scriptedModel([adding('chair'), 'Added.', adding('lamp'), 'Added.']);
    const definitions = { clerk: looks(() => 'In the cart:') };
    await using gateway = await startTestGateway({ model, definitions, agents });
    await gateway.api('/api/chat', ask('A chair.'));
    const id = await ping(gateway);
    await expect.poll(() => inbox(gateway, id, 'done')).toHaveLength(1);
    const last = model.requests.map(({ prompt: sent }) => JSON.stringify(sent.at(-1)));
    expect(last.map((one) => /In the cart:(\w*)/.exec(one)?.[1])).toEqual(['', 'chair', '', 'lamp']);
    // An agent reads its situation too.
    expect(last.map((one) => one.includes('<situation-'))).toEqual([false, false, true, true]);
    for (const { prompt: sent } of model.requests)
      expect(JSON.stringify(sent.slice(0, -1))).not.toContain('In the cart');
  });

  it('that throws is left out, and the agent still reads its situation', async () => {
    const model = scriptedModel(['Hello.']);
    const fails = (): never => {
      throw new Error('No cart.');
    };
    await using gateway = await startTestGateway({ model, definitions: { clerk: looks(fails) }, agents });
    const id = await ping(gateway);
    await expect.poll(() => inbox(gateway, id, 'done')).toHaveLength(1);
    expect(JSON.stringify(model.requests[0]?.prompt.at(-1))).toContain('<situation-');
  });
});

describe('rewind', () => {
  it('[A13] is offered in the modes that pick it, and in no other', async () => {
    const careful = plugin({
      name: 'careful',
      tools: () => ({}),
      getAgentConfig: (_ctx, mode: string, tools) => ({
        instructions: '',
        tools: mode === 'try' ? filterToolSet(tools, 'include', ['rewind', 'add_item']) : {},
      }),
    });
    const definition = defineAgent({
      tools: { add_item },
      rewind: true,
      slices: [cart],
      plugins: [careful],
      modes: ['try', 'rest'],
      mode: ({ session }) => (session.read(cart).length === 0 ? 'try' : 'rest'),
    });
    const rewinding = { toolName: 'rewind', input: { reason: 'Wrong.', guidance: 'Take a lamp.' } };
    const model = scriptedModel([adding('chair'), rewinding, adding('lamp'), 'Done.', 'Resting.']);
    await using gateway = await startTestGateway({ model, definitions: { clerk: definition }, agents });
    const { context_id } = await gateway.api('/api/chat', ask('Go.'));
    await gateway.api('/api/chat', ask('Go on.', { context_id }));
    expect(model.requests.map((request) => namesOf(request).includes('rewind'))).toEqual([
      ...[true, true, true, true, false],
    ]);
    const [{ id }] = (await gateway.api('/api/agents')).items;
    const { slices } = await gateway.api(`/api/agents/${id}/session?contextId=${context_id}`);
    expect(slices.cart.state).toEqual(['lamp']);
  });

  it('[A14] goes back to the start of the run; sent messages stay, and the agent reads which', async () => {
    let spaceId = '';
    const rewinding = [{ toolName: 'rewind', input: { reason: 'Wrong item.', guidance: 'Take a lamp.' } }];
    const model = scriptedModel([
      () => [{ toolName: 'enter_space', input: { spaceId } }],
      [...adding('chair'), { toolName: 'send_message', input: { text: 'A chair is coming.' } }],
      rewinding,
      adding('lamp'),
      'Done.',
    ]);
    await using gateway = await startTestGateway({
      model,
      definitions: { clerk: defineAgent({ tools: { add_item }, rewind: true }) },
      agents,
      spaces: [{ name: 'Shop', agents: ['Clerk'], people: [{ name: 'Ada' }] }],
    });
    const [space] = (await gateway.api('/api/spaces')).items;
    spaceId = space.id;
    const [{ id }] = (await gateway.api('/api/agents')).items;
    const ada = (await gateway.api(`/api/spaces/${space.id}/members`)).items.find(
      (one: { entityId: string }) => one.entityId !== id,
    );
    await gateway.api(`/api/spaces/${space.id}/messages`, { entityId: ada.entityId, text: 'A chair, please.' });
    await expect.poll(() => inbox(gateway, id, 'done')).toHaveLength(1);
    const { slices } = await gateway.api(`/api/agents/${id}/session`);
    expect(slices.cart.state).toEqual(['lamp']);
    const after = JSON.stringify(model.requests.at(-2)?.prompt);
    expect(after).toContain('You went back to this point.');
    expect(after).toContain('These calls took effect outside and still stand');
    expect(after).toContain('A chair is coming.');
    const { items } = await gateway.api(`/api/spaces/${space.id}/messages`);
    expect(JSON.stringify(items)).toContain('A chair is coming.');
  });
});
