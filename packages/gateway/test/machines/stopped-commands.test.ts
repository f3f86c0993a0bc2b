import { scriptedModel } from '@lastcall/core/testing';
import { charter, node, spawn } from '@lastcall/machines';
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/index.ts';
import { startTestGateway, type TestGateway } from '../../src/testing/index.ts';
import { usageOf } from '../usage/usage-of.ts';

it('[A19] [K12] a command is run and answered if its agent has spent the limit of the day, and other events wait', async () => {
  const model = { ...scriptedModel(() => ({ text: 'Yes.', usage: usageOf(1_000, 0) })), modelId: 'm' };
  const counted: number[] = [];
  const main = node({ instructions: 'Count.', commands: { add: () => counted.push(1) } });
  await using gateway = await startTestGateway({
    model,
    prices: { m: { input: 1_000, output: 0 } },
    definitions: { desk: defineAgent({ machine: charter({ nodes: { main } }) }) },
    agents: [{ name: 'Desk', definition: 'desk', limits: { spend: { perDay: 1 } } }],
  });
  const [{ id }] = (await gateway.api('/api/agents')).items;
  const ping = () => gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'ping' });
  const stops = async () =>
    (await gateway.api('/api/runs')).items.map(({ stop }: { stop?: { reason: string } }) => stop?.reason);
  await ping();
  await expect.poll(stops).toEqual(['end_turn']);
  // The run that this event starts is stopped by the limit.
  await ping();
  await expect.poll(stops).toEqual(['budget', 'end_turn']);
  await ping();
  for (const output of [1, 2])
    expect(await gateway.api(`/api/agents/${id}/machine/commands/add`, {})).toMatchObject({ output });
  expect(counted).toHaveLength(2);
  expect(model.requests).toHaveLength(1);
  expect((await gateway.api(`/api/agents/${id}`)).inbox).toMatchObject({ pending: 2 });
});

describe('a machine whose run stops after a command that gave it something to do', () => {
  const lead = node({ instructions: 'Lead.', commands: { hire: () => spawn('kid') } });
  const kid = node({ instructions: 'Kid.' });
  const definitions = { desk: defineAgent({ machine: charter({ nodes: { lead, kid } }) }) };
  const agents = [{ name: 'Desk', definition: 'desk', limits: { spend: { perDay: 1 } } }];
  const prices = { m: { input: 1_000, output: 0 } };
  const hire = async (gateway: TestGateway, body: object = {}) => {
    const [{ id }] = (await gateway.api('/api/agents')).items;
    return await gateway.api(`/api/agents/${id}/machine/commands/hire`, body);
  };
  const stops = async (gateway: TestGateway) =>
    (await gateway.api('/api/runs')).items.map(({ stop }: { stop?: { reason: string } }) => stop?.reason);

  it('[A15] [A19] goes on after a failure of the model, and the command runs once', async () => {
    let requests = 0;
    const model = scriptedModel(() => {
      if (requests++ === 0) throw new Error('The provider is down.');
      return { text: 'Hired.', usage: usageOf(0, 0) };
    });
    await using gateway = await startTestGateway({ model: { ...model, modelId: 'm' }, prices, definitions, agents });
    expect(await hire(gateway, { idempotencyKey: 'k' })).toMatchObject({ output: { children: ['root.1'] } });
    await expect.poll(() => stops(gateway)).toEqual(['end_turn', 'error']);
    const again = await hire(gateway, { idempotencyKey: 'k' });
    expect(again).toMatchObject({ duplicate: true, output: { children: ['root.1'] } });
    const [{ id }] = (await gateway.api('/api/agents')).items;
    const { instances } = await gateway.api(`/api/agents/${id}/machine`);
    expect(instances).toMatchObject([{ id: 'root' }, { id: 'root.1', phase: 'idle' }]);
  });

  it('[A15] [A19] goes on after a failure of the model although a message of a person waits for the next day', async () => {
    let requests = 0;
    const model = scriptedModel(() => {
      if (requests++ === 1) throw new Error('The provider is down.');
      return { text: 'Yes.', usage: usageOf(requests === 1 ? 1_000 : 0, 0) };
    });
    await using gateway = await startTestGateway({
      ...{ model: { ...model, modelId: 'm' }, prices, definitions },
      limits: { person: { spend: { perDay: 1 } } },
      agents: [{ name: 'Desk', definition: 'desk' }],
      spaces: [{ name: 'Hall', agents: ['Desk'], people: [{ name: 'Ada' }] }],
    });
    const [{ id: spaceId }] = (await gateway.api('/api/spaces')).items;
    const [{ id: entityId }] = (await gateway.api('/api/entities?kind=human')).items;
    const say = () => gateway.api(`/api/spaces/${spaceId}/messages`, { entityId, text: 'Hello.' });
    await say();
    await expect.poll(() => stops(gateway)).toEqual(['end_turn']);
    await say();
    await expect.poll(() => stops(gateway)).toEqual(['budget', 'end_turn']);
    await hire(gateway);
    await expect.poll(() => stops(gateway), { timeout: 10_000 }).toEqual(['end_turn', 'error', 'budget', 'end_turn']);
  });

  it('[K12] [A19] goes on at once if it was stopped by the limit of a person, whose message waits for the next day', async () => {
    const asked: string[] = [];
    const first = Promise.withResolvers<void>();
    const model = scriptedModel(async ({ prompt }) => {
      asked.push(JSON.stringify(prompt));
      if (asked.length === 1) await first.promise;
      return { text: 'Yes.', usage: usageOf(asked.length === 1 ? 1_000 : 0, 0) };
    });
    await using gateway = await startTestGateway({
      ...{ model: { ...model, modelId: 'm' }, prices, definitions },
      limits: { person: { spend: { perDay: 1 } } },
      agents: [{ name: 'Desk', definition: 'desk' }],
      spaces: [{ name: 'Hall', agents: ['Desk'], people: [{ name: 'Ada' }] }],
    });
    const [{ id }] = (await gateway.api('/api/agents')).items;
    const [{ id: spaceId }] = (await gateway.api('/api/spaces')).items;
    const [{ id: entityId }] = (await gateway.api('/api/entities?kind=human')).items;
    const say = (text: string) => gateway.api(`/api/spaces/${spaceId}/messages`, { entityId, text });
    await say('Hello.');
    await expect.poll(() => asked).toHaveLength(1);
    // The next run takes both.
    await say('Goodbye.');
    const hired = hire(gateway);
    const pending = async () => (await gateway.api(`/api/agents/${id}`)).inbox.pending;
    await expect.poll(pending).toBe(2);
    first.resolve();
    expect(await hired).toMatchObject({ output: { children: ['root.1'] } });
    await expect.poll(() => stops(gateway)).toEqual(['end_turn', 'budget', 'end_turn']);
    const { instances } = await gateway.api(`/api/agents/${id}/machine`);
    expect(instances).toMatchObject([{ id: 'root' }, { id: 'root.1', phase: 'idle' }]);
    expect(await pending()).toBe(1);
    expect(asked).toHaveLength(2);
  });

  it('[K12] [A19] waits for the next day, and goes on when the limit is raised', async () => {
    const model = { ...scriptedModel(() => ({ text: 'Yes.', usage: usageOf(1_000, 0) })), modelId: 'm' };
    await using gateway = await startTestGateway({ model, prices, definitions, agents });
    const [{ id }] = (await gateway.api('/api/agents')).items;
    await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'ping' });
    await expect.poll(() => stops(gateway)).toEqual(['end_turn']);
    await hire(gateway);
    await expect.poll(() => stops(gateway)).toEqual(['budget', 'end_turn']);
    expect((await gateway.api(`/api/agents/${id}`)).inbox).toMatchObject({ pending: 1 });
    const limits = { spend: { perDay: 100 } };
    await gateway.request(`/api/agents/${id}`, { limits }, { method: 'PATCH' });
    await expect.poll(() => stops(gateway)).toEqual(['end_turn', 'budget', 'end_turn']);
    const { instances } = await gateway.api(`/api/agents/${id}/machine`);
    expect(instances).toMatchObject([{ id: 'root' }, { id: 'root.1', phase: 'idle' }]);
  });
});
