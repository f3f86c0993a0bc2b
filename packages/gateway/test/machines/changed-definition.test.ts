import { slice, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentDefinition } from '../../src/config/agent-definition.ts';
import { defineAgent } from '../../src/index.ts';
import { startTestGateway, type TestGateway } from '../../src/testing/index.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { desk as machine } from './desk.ts';

const LONG = 'word '.repeat(3_000);
const agents = [{ name: 'Desk', definition: 'desk', limits: { consciousnessTokens: 1_000 } }];
const call = (toolName: string, input: object = {}) => [{ toolName, input }];

const seen = slice('seen', { initial: 0, on: { Saw: (count: number, _event: { type: 'Saw' }) => count + 1 } });
const note = tool({
  description: 'Notes.',
  inputSchema: z.object({}),
  slices: [seen],
  effects: 'session',
  execute(_input, { session }) {
    session.dispatch({ type: 'Saw' });
    return `Noted ${session.read(seen)}.`;
  },
});
const plain = defineAgent({ instructions: 'Be plain.', tools: { note } });

/** Runs the agent once for each reply, with summaries that say "Summary." */
async function run(
  home: string,
  desk: AgentDefinition,
  replies: Parameters<typeof scriptedModel>[0],
  work: (gateway: TestGateway, id: string) => Promise<void> = async () => {},
) {
  const model = scriptedModel(replies);
  const summary = scriptedModel(() => 'Summary.');
  await using gateway = await startTestGateway({
    home,
    model: { ...model, doGenerate: summary.doGenerate },
    definitions: { desk },
    agents,
  });
  const [{ id }] = (await gateway.api('/api/agents')).items;
  await work(gateway, id);
  const completed = async () => (await gateway.api('/api/runs?status=completed')).items.length as number;
  const before = await completed();
  await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'ping' });
  await expect.poll(completed).toBe(before + 1);
  return { model, compactions: summary.requests.length };
}

it('[A3] a machine whose definition has no charter for some time continues where it was, also after a compaction', async () => {
  const home = await scratchFolder('changed');
  await run(home, machine, [call('transition_refund', { order: 'A-1' }), 'Ready.']);
  await run(home, plain, [LONG]);
  const { compactions } = await run(home, plain, [LONG]);
  expect(compactions).toBeGreaterThan(0);
  const { model } = await run(home, machine, ['Back.'], async (gateway, id) => {
    const { instances } = await gateway.api(`/api/agents/${id}/machine`);
    expect(instances).toMatchObject([{ node: 'refund', state: { order: 'A-1' } }]);
  });
  expect(String(model.requests[0]?.prompt[0]?.content)).toContain('Refund the customer.');
});

it('[A3] an agent that was a machine for some time has its session and its conversation again, also after a compaction', async () => {
  const home = await scratchFolder('changed');
  await run(home, plain, [call('note'), 'Noted.']);
  await run(home, machine, [call('look_up', { order: 'A-1' }), LONG]);
  await run(home, machine, [LONG]);
  const { model } = await run(home, plain, [call('note'), 'Again.']);
  const sent = JSON.stringify(model.requests);
  expect(sent).toContain('Noted 1.');
  expect(sent).toContain('Noted 2.');
  expect(sent).not.toContain('look_up');
});
