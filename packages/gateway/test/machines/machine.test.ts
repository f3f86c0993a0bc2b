import { type ScriptedModel, scriptedModel } from '@lastcall/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../../src/testing/index.ts';
import { desk, world } from './desk.ts';

const agents = [{ name: 'Desk', definition: 'desk' }];
const definitions = { desk };

beforeEach(() => {
  world.length = 0;
});

const call = (toolName: string, input: object = {}) => [{ toolName, input }];

/** The text of the last request that an instance with these instructions got. */
function systemOf(model: ScriptedModel, at: number): string {
  return String(model.requests[at]?.prompt[0]?.content);
}

const ask = async (gateway: TestGateway, message: string, context_id?: string) =>
  await gateway.api('/api/chat', context_id === undefined ? { agent: 'Desk', message } : { message, context_id });

describe('a machine in a conversation', () => {
  it('[A15] [A22] runs until it rests, and goes on where it was in the next request', async () => {
    const model = scriptedModel([
      call('look_up', { order: 'A-1' }),
      call('transition_refund', { order: 'A-1' }),
      'I will pay it back.',
      'As I said.',
    ]);
    await using gateway = await startTestGateway({ model, definitions, agents });
    const first = await ask(gateway, 'I want my money back for A-1.');
    expect(first.response).toBe('I will pay it back.');
    const second = await ask(gateway, 'Really?', first.context_id);
    expect(second.response).toBe('As I said.');
    expect(systemOf(model, 0)).toContain('Find out what the customer needs.');
    expect(systemOf(model, 3)).toContain('Refund the customer.');
    expect(systemOf(model, 3)).toContain('A-1');
    expect(JSON.stringify(model.requests[3]?.prompt)).toContain('Order A-1 cost 20 €.');
  });

  it('[A17] a call that waits for approval in a node is answered like any other, and the machine goes on', async () => {
    const model = scriptedModel([
      call('transition_refund', { order: 'A-1' }),
      call('pay_back', { order: 'A-1' }),
      'Done.',
    ]);
    await using gateway = await startTestGateway({ model, definitions, agents });
    const asked = await ask(gateway, 'Money back for A-1.');
    expect(asked.stop).toEqual({ reason: 'suspended' });
    expect(asked.pending_calls).toMatchObject([{ tool_name: 'pay_back', kind: 'approval' }]);
    const [{ tool_call_id: callId }] = asked.pending_calls;
    await gateway.api(`/api/runs/${asked.run_id}/tool-results`, { callId, approve: true });
    await expect.poll(async () => (await gateway.api('/api/runs?status=completed')).items.length).toBe(2);
    expect(world).toEqual(['paid back A-1']);
    expect(model.requests).toHaveLength(3);
    const { items } = await gateway.api(`/contexts/${asked.context_id}/messages`);
    expect(items.at(-1)).toEqual({ sender: 'ai', message: 'Done.' });
  });

  it('[A17] a suspended leaf asks a question, and its answer continues it', async () => {
    const model = scriptedModel([call('transition_ask', { question: 'Which colour?' }), 'Red it is.']);
    await using gateway = await startTestGateway({ model, definitions, agents });
    const asked = await ask(gateway, 'I want a chair.');
    const [{ tool_call_id: callId }] = asked.pending_calls;
    await gateway.api(`/api/runs/${asked.run_id}/tool-results`, { callId, result: 'Red.' });
    await expect.poll(async () => (await gateway.api('/api/runs?status=completed')).items.length).toBe(2);
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('Red.');
  });

  it('[A18] workers of one step run side by side, and their reports reach the node that waits', async () => {
    const model = scriptedModel(({ prompt }) => {
      const system = String(prompt[0]?.content);
      const said = JSON.stringify(prompt);
      if (system.includes('Check one thing.')) return call('transition_report', { found: 'all is well' });
      return said.includes('all is well') ? 'Both checked.' : call('transition_check_both');
    });
    await using gateway = await startTestGateway({ model, definitions, agents });
    const { response, run_id } = await ask(gateway, 'Check everything.');
    expect(response).toBe('Both checked.');
    const { items } = await gateway.api(`/api/runs/${run_id}/transcript`);
    const nodes = items.flatMap((one: { entry: { kind: string; node?: string } }) =>
      one.entry.kind === 'reply' ? [one.entry.node] : [],
    );
    expect(nodes).toEqual(['triage', 'check', 'check', 'triage']);
  });
});
