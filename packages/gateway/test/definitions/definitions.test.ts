import { requires, section, slice, tool } from '@lastcall/core';
import { prompt } from '@lastcall/core/prompt';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AgentDefinition, defineAgent } from '../../src/index.ts';
import { startTestGateway } from '../../src/testing/index.ts';

const cart = slice('cart', {
  initial: [] as readonly string[],
  on: { Added: (items, { item }: { type: 'Added'; item: string }) => [...items, item] },
});

const add_item = tool({
  description: 'Adds an item.',
  inputSchema: z.object({ item: z.string() }),
  effects: 'session',
  slices: [cart],
  execute({ item }, { session }) {
    session.dispatch({ type: 'Added', item });
    return `${session.read(cart).length} in the cart`;
  },
});

const pay = tool({
  description: 'Pays.',
  inputSchema: z.object({}),
  effects: 'session',
  execute: (_input, { session }) => `paid ${session.read(cart).join(', ')}`,
});

const orders = section({ key: 'orders', title: 'Orders', template: 'Take orders politely.' });

function clerk(more: Partial<AgentDefinition> = {}): AgentDefinition {
  return defineAgent({
    instructions: prompt({ ns: 'shop', key: 'clerk', sections: [orders] }),
    tools: { add_item, pay },
    slices: [cart],
    policies: [requires({ pay: ['add_item'] })],
    ...more,
  });
}

/** Sends a chat message and returns the answer. */
const ask = (text: string, agent = 'Clerk') => ({ agent, message: text });

describe('definitions', () => {
  it('[A1] an agent of the file and an agent made over HTTP share a definition', async () => {
    const model = scriptedModel([
      [{ toolName: 'add_item', input: { item: 'chair' } }],
      'Added.',
      [{ toolName: 'add_item', input: { item: 'table' } }],
      'Added too.',
    ]);
    await using gateway = await startTestGateway({
      model,
      definitions: { clerk: clerk() },
      agents: [{ name: 'Clerk', definition: 'clerk' }],
    });
    const made = await gateway.api('/api/agents', { name: 'Clerk of Berlin', definition: 'clerk' });
    expect(made).toMatchObject({ name: 'Clerk of Berlin', config: { definition: 'clerk' } });
    expect((await gateway.api('/api/chat', ask('A chair, please.'))).response).toBe('Added.');
    expect((await gateway.api('/api/chat', ask('A table.', 'Clerk of Berlin'))).response).toBe('Added too.');
    const [first] = model.requests;
    expect(JSON.stringify(first?.prompt[0])).toContain('Take orders politely.');
    expect(first?.tools?.map(({ name }) => name)).toEqual(expect.arrayContaining(['add_item', 'pay']));
  });

  it('[A1] a name that does not exist is refused with the nearest one, in the file and over HTTP', async () => {
    const refused = startTestGateway({ definitions: { clerk: clerk() }, agents: [{ name: 'C', definition: 'clrek' }] });
    await expect(refused).rejects.toThrow(
      'agents[0].definition names the definition "clrek", which this gateway does not have. Did you mean "clerk"?',
    );
    await using gateway = await startTestGateway({ definitions: { clerk: clerk() } });
    const answer = await gateway.request('/api/agents', { name: 'C', definition: 'clrek' });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain('Did you mean \\"clerk\\"?');
  });

  it('[A2] instructions of the data become the last section, and tools are joined', async () => {
    const model = scriptedModel(['Ja.']);
    await using gateway = await startTestGateway({
      model,
      definitions: { clerk: clerk() },
      tools: { weather: tool({ description: 'Weather.', inputSchema: z.object({}), execute: () => 'sunny' }) },
      agents: [{ name: 'Clerk', definition: 'clerk', instructions: 'Answer in German.', tools: ['weather'] }],
    });
    await gateway.api('/api/chat', ask('Hello'));
    const [{ prompt: sent, tools } = { prompt: [], tools: [] }] = model.requests;
    const system = String(sent[0]?.content);
    expect(system.indexOf('Take orders politely.')).toBeLessThan(system.indexOf('Answer in German.'));
    expect(system).toContain('## Further instructions');
    expect(tools?.map(({ name }) => name)).toEqual(expect.arrayContaining(['add_item', 'pay', 'weather']));
  });

  it('[A2] two tools with one name are refused with both places', async () => {
    const twice = { name: 'Clerk', definition: 'clerk', tools: ['pay'] };
    const start = startTestGateway({ definitions: { clerk: clerk() }, tools: { pay }, agents: [twice] });
    await expect(start).rejects.toThrow(
      'agents[0].tools[0] is "pay", and the definition has a tool of that name: definitions.clerk.tools.pay.',
    );
    await using gateway = await startTestGateway({ definitions: { clerk: clerk() }, tools: { pay } });
    const answer = await gateway.request('/api/agents', twice);
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain('definitions.clerk.tools.pay');
  });

  it('[A2] limits and model of the data win', async () => {
    const model = scriptedModel([
      [{ toolName: 'add_item', input: { item: 'chair' } }],
      [{ toolName: 'add_item', input: { item: 'chair' } }],
      'never',
    ]);
    await using gateway = await startTestGateway({
      models: { own: model },
      definitions: { clerk: clerk() },
      agents: [{ name: 'Clerk', definition: 'clerk', model: 'own', limits: { maxSteps: 2 } }],
    });
    const answer = await gateway.api('/api/chat', ask('Go'));
    expect(answer.stop ?? answer).toMatchObject({ reason: 'max_steps' });
  });
});
