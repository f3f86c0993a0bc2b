import { scriptedModel } from '@lastcall/core/testing';
import { charter, node } from '@lastcall/machines';
import { expect, it } from 'vitest';
import { defineAgent } from '../../src/index.ts';
import { startTestGateway } from '../../src/testing/index.ts';
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
