import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { charter, node } from '@lastcall/machines';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AgentDefinition, defineAgent } from '../../src/index.ts';
import { startTestGateway } from '../../src/testing/index.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { adding, ask, clerk, inbox, pay, ping } from './shop.ts';

describe('definitions', () => {
  it('[A1] an agent of the file and an agent made over HTTP share a definition', async () => {
    const model = scriptedModel([adding('chair'), 'Added.', adding('table'), 'Added too.']);
    await using gateway = await startTestGateway({
      model,
      definitions: { clerk: clerk() },
      agents: [{ name: 'Clerk', definition: 'clerk' }],
    });
    const made = await gateway.api('/api/agents', { name: 'Clerk of Berlin', definition: 'clerk' });
    expect(made).toMatchObject({ name: 'Clerk of Berlin', config: { definition: 'clerk' } });
    expect((await gateway.api('/api/chat', ask('A chair, please.'))).response).toBe('Added.');
    expect((await gateway.api('/api/chat', ask('A table.', { agent: 'Clerk of Berlin' }))).response).toBe('Added too.');
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
    const model = scriptedModel([adding('chair'), adding('chair'), 'never']);
    await using gateway = await startTestGateway({
      models: { own: model },
      definitions: { clerk: clerk() },
      agents: [{ name: 'Clerk', definition: 'clerk', model: 'own', limits: { maxSteps: 2 } }],
    });
    const answer = await gateway.api('/api/chat', ask('Go'));
    expect(answer.stop ?? answer).toMatchObject({ reason: 'max_steps' });
  });

  it('[A3] a definition that changes applies from the next run, and the state of what was removed is used again', async () => {
    const home = await scratchFolder('definitions');
    const agents = [{ name: 'Clerk', definition: 'clerk' }];
    const turn = async (definition: AgentDefinition, model: ReturnType<typeof scriptedModel>, more: object = {}) => {
      await using gateway = await startTestGateway({ home, model, definitions: { clerk: definition }, agents });
      return await gateway.api('/api/chat', ask('Go on.', more));
    };
    const { context_id } = await turn(clerk(), scriptedModel([adding('chair'), 'Added.']));
    const without = scriptedModel(['Nothing to do.']);
    await turn(defineAgent({ instructions: 'Be brief.' }), without, { context_id });
    expect(without.requests[0]?.tools?.some(({ name }) => name === 'add_item')).not.toBe(true);
    expect(String(without.requests[0]?.prompt[0]?.content)).toContain('Be brief.');
    const again = scriptedModel([[{ toolName: 'pay', input: {} }], 'Paid.']);
    await turn(clerk(), again, { context_id });
    expect(JSON.stringify(again.requests[1]?.prompt.at(-1))).toContain('paid chair');
  });

  it('[A3] an agent whose definition is gone fails once, its events wait, and it goes on when the definition returns', async () => {
    const home = await scratchFolder('definitions');
    const spaces = [{ name: 'Shop', agents: ['Clerk'], people: [{ name: 'Ada' }] }];
    const agents = [{ name: 'Clerk', definition: 'clerk' }];
    let id = '';
    {
      await using gateway = await startTestGateway({ home, definitions: { clerk: clerk() }, agents, spaces });
      id = (await gateway.api('/api/agents')).items[0].id;
    }
    {
      await using gateway = await startTestGateway({ home });
      await ping(gateway);
      await expect.poll(async () => (await gateway.api(`/api/agents/${id}`)).status).toBe('invalid');
      const agent = await gateway.api(`/api/agents/${id}`);
      expect(JSON.stringify(agent.lastError)).toContain('names the definition');
      expect(await inbox(gateway, id, 'pending')).toHaveLength(1);
    }
    {
      const model = scriptedModel(['Awake.']);
      await using gateway = await startTestGateway({ home, model, definitions: { clerk: clerk() } });
      await expect.poll(() => inbox(gateway, id, 'done')).toHaveLength(1);
      expect(model.requests).toHaveLength(1);
      expect((await gateway.api(`/api/agents/${id}`)).status).toBe('active');
    }
  });
});

describe('a definition that was mistaken for another object', () => {
  const found = tool({ description: 'Finds.', inputSchema: z.object({}), execute: () => 'found' });
  const made = charter({ nodes: { clerk: node({ instructions: 'Help.' }) } });

  it('[R53] is refused, with what to give instead', () => {
    expect(() => defineAgent(made as never)).toThrow('is a charter: give { machine: charter }.');
    expect(() => defineAgent({ tools: [found] } as never)).toThrow('{ search: tool({ … }) }');
  });
});
