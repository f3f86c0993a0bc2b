import { type ScriptedModel, scriptedModel } from '@lastcall/core/testing';
import { charter, node, to } from '@lastcall/machines';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/index.ts';
import { startTestGateway, type TestGateway } from '../../src/testing/index.ts';
import { transcriptEntrySchema } from '../../src/transport/http/schemas/transcript-entry.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
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

/** An entry of a run, if it is not as the OpenAPI document says. */
function undocumented({ entry }: { readonly entry: unknown }): readonly unknown[] {
  return transcriptEntrySchema.safeParse(entry).success ? [] : [entry];
}

const ask = async (gateway: TestGateway, message: string, context_id?: string) =>
  await gateway.api('/api/chat', context_id === undefined ? { agent: 'Desk', message } : { message, context_id });

describe('a machine in a conversation', () => {
  it('[A15] [A22] runs until it rests, and continues where it was in the next request', async () => {
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

  it('[A22] is not told by an OpenAI client which tool to call, because its nodes decide that', async () => {
    const model = scriptedModel([]);
    await using gateway = await startTestGateway({ model, definitions, agents });
    const refused = await gateway.request('/v1/chat/completions', {
      model: 'Desk',
      messages: [{ role: 'user', content: 'Money back for A-1.' }],
      tools: [{ type: 'function', function: { name: 'locate' } }],
      tool_choice: { type: 'function', function: { name: 'locate' } },
    });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { param: 'tool_choice' } });
    expect(model.requests).toEqual([]);
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
    // It has no card, so operators see in the list of waiting calls which node asks.
    expect((await gateway.api('/api/pending')).items).toMatchObject([{ callId, node: 'refund' }]);
    await gateway.api(`/api/runs/${asked.run_id}/tool-results`, { callId, approve: true });
    await expect.poll(async () => (await gateway.api('/api/runs?status=completed')).items.length).toBe(2);
    expect(world).toEqual(['paid back A-1']);
    expect(model.requests).toHaveLength(3);
    const { messages } = await gateway.api(`/contexts/${asked.context_id}`);
    expect(messages.at(-1)).toEqual({ sender: 'ai', message: 'Done.' });
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

  it('[A18] workers of one step run in parallel, and their reports reach the node that waits', async () => {
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
    expect(items.flatMap(undocumented)).toEqual([]);
  });
});

describe('what is streamed of a machine in a conversation', () => {
  it('[A22] has the text of the primary, and not that of workers, which would be mixed', async () => {
    const model = scriptedModel(({ prompt }) => {
      const said = JSON.stringify(prompt);
      if (String(prompt[0]?.content).includes('Check one thing.'))
        return { text: 'I check.', calls: call('transition_report', { found: 'all is well' }) };
      return said.includes('all is well')
        ? 'Both checked.'
        : { text: 'A moment.', calls: call('transition_check_both') };
    });
    await using gateway = await startTestGateway({ model, definitions, agents });
    const stream = async (path: string, body: object): Promise<string> => {
      const headers = { authorization: `Bearer ${gateway.secretKey}`, accept: 'text/event-stream' };
      const sent = { ...headers, 'content-type': 'application/json' };
      const response = await fetch(gateway.url + path, { method: 'POST', headers: sent, body: JSON.stringify(body) });
      return await response.text();
    };
    const textOf = (streamed: string, field: RegExp): string =>
      Array.from(streamed.matchAll(field), ([, text]) => JSON.parse(`"${text}"`)).join('');
    const chat = await stream('/chat', { agent: 'Desk', message: 'Check.' });
    expect(textOf(chat, /"delta":"([^"]*)"[^\n]*"type":"text\.delta"/g)).toBe('A moment.Both checked.');
    const messages = [{ role: 'user', content: 'Check.' }];
    const completion = await stream('/v1/chat/completions', { model: 'Desk', stream: true, messages });
    expect(textOf(completion, /"content":"([^"]*)"/g)).toBe('A moment.\n\nBoth checked.');
    const asked = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Check.' }] }];
    const page = await stream('/api/agents/Desk/chat', { id: 'page', messages: asked });
    expect(textOf(page, /"type":"text-delta"[^\n]*"delta":"([^"]*)"/g)).toBe('A moment.Both checked.');
  });
});

/** A space with a person and the agent. */
async function shop(gateway: TestGateway) {
  const [space] = (await gateway.api('/api/spaces')).items;
  const [agent] = (await gateway.api('/api/agents')).items;
  const members = (await gateway.api(`/api/spaces/${space.id}/members`)).items;
  const ada = members.find((one: { entityId: string }) => one.entityId !== agent.id);
  const say = (text: string) => gateway.api(`/api/spaces/${space.id}/messages`, { entityId: ada.entityId, text });
  const messages = async () => (await gateway.api(`/api/spaces/${space.id}/messages`)).items;
  return { spaceId: space.id as string, agentId: agent.id as string, adaId: ada.entityId as string, say, messages };
}

const spaces = [{ name: 'Shop', agents: ['Desk'], people: [{ name: 'Ada' }] }];

describe('a machine in spaces', () => {
  it('[A15] [A17] [A18] events go to the primary as one message, cards name the node, and the answer goes to the instance that asked', async () => {
    let spaceId = '';
    const model = scriptedModel([
      () => call('enter_space', { spaceId }),
      call('transition_refund', { order: 'A-1' }),
      call('pay_back', { order: 'A-1' }),
      call('send_message', { text: 'Paid.' }),
      'Slept.',
    ]);
    await using gateway = await startTestGateway({ model, definitions, agents, spaces });
    const at = await shop(gateway);
    spaceId = at.spaceId;
    await at.say('Money back for A-1!');
    const waiting = async () => (await gateway.api('/api/pending')).items;
    await expect.poll(waiting).toHaveLength(1);
    const [{ callId, runId, node: asking }] = await waiting();
    expect(asking).toBe('refund');
    const [card] = (await at.messages()).filter((one: { kind: string }) => one.kind === 'tool');
    expect(card).toMatchObject({ status: 'requires_action', metadata: { toolName: 'pay_back', node: 'refund' } });
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain('Money back for A-1!');
    await gateway.api(`/api/runs/${runId}/tool-results`, { callId, approve: true });
    await expect.poll(() => world).toEqual(['paid back A-1']);
    await expect.poll(async () => JSON.stringify(await at.messages())).toContain('Paid.');
    const ended = (await at.messages()).find((one: { kind: string }) => one.kind === 'tool');
    expect(ended.status).toBe('complete');
    const [said] = (await at.messages()).filter((one: { text: string }) => one.text === 'Paid.');
    expect(said.metadata).toEqual({ node: 'refund' });
    expect(systemOf(model, 0)).toContain('# Rules');
  });

  it('[A17] a person who writes while the machine waits for an approval gets a notice, and the message is read afterwards', async () => {
    const model = scriptedModel([
      call('transition_refund', { order: 'A-1' }),
      call('pay_back', { order: 'A-1' }),
      'Paid, and hello to you.',
    ]);
    await using gateway = await startTestGateway({ model, definitions, agents, spaces });
    const at = await shop(gateway);
    await at.say('Money back for A-1!');
    await expect.poll(async () => (await gateway.api('/api/pending')).items).toHaveLength(1);
    const [{ callId, runId }] = (await gateway.api('/api/pending')).items;
    const texts = async () => (await at.messages()).map(({ text }: { text: string }) => text);
    expect((await texts()).join(' ')).not.toContain('I have your message');
    await at.say('Are you there?');
    const notice = 'I have your message. I go on when these are answered: pay_back.';
    await expect.poll(texts).toContain(notice);
    expect(model.requests).toHaveLength(2);
    await gateway.api(`/api/runs/${runId}/tool-results`, { callId, approve: true });
    await expect.poll(texts).toContain('Paid, and hello to you.');
    expect((await texts()).filter((text: string) => text === notice)).toHaveLength(1);
    expect(JSON.stringify(model.requests[2]?.prompt)).toContain('Are you there?');
  });

  it('[A17] an agent that replies only with its tools does not say that it waits', async () => {
    const model = scriptedModel([call('transition_ask', { question: 'Which colour?' }), 'Red.']);
    const quiet = [{ name: 'Desk', definition: 'desk', replies: 'tools' as const }];
    await using gateway = await startTestGateway({ model, definitions, agents: quiet, spaces });
    const at = await shop(gateway);
    await at.say('A chair!');
    await expect.poll(async () => (await gateway.api('/api/pending')).items).toHaveLength(1);
    await at.say('Hello?');
    const ended = async () => (await gateway.api('/api/runs')).items.filter((run: { endedAt?: number }) => run.endedAt);
    await expect.poll(ended).toHaveLength(2);
    expect(JSON.stringify(await at.messages())).not.toContain('I have your message');
  });

  it('[A19] commands are listed, run once per key between two steps, and a failed one changes nothing', async () => {
    const model = scriptedModel([call('transition_refund', { order: 'A-1' }), 'Which order?', 'Closed.']);
    await using gateway = await startTestGateway({ model, definitions, agents });
    const { context_id } = await ask(gateway, 'Refund.');
    const [{ id }] = (await gateway.api('/api/agents')).items;
    const path = `/api/agents/${id}/machine`;
    const at = `?contextId=${context_id}`;
    const shown = await gateway.api(`${path}${at}`);
    expect(shown).toMatchObject({
      primary: shown.instances[0].id,
      instances: [{ node: 'refund', worker: false, state: { order: 'A-1' } }],
      commands: [{ name: 'close', description: 'Closes the case.', node: 'refund' }],
      waiting: [],
    });
    const close = (body: object) => gateway.request(`${path}/commands/close${at}`, body);
    const first = await close({ input: { note: 'paid' }, idempotencyKey: 'k1' });
    expect(await first.json()).toEqual({ name: 'close', output: 'paid', duplicate: false });
    expect(await (await close({ input: { note: 'paid' }, idempotencyKey: 'k1' })).json()).toEqual({
      name: 'close',
      output: 'paid',
      duplicate: true,
    });
    expect((await close({ input: { note: 'other' }, idempotencyKey: 'k1' })).status).toBe(422);
    expect((await gateway.api(`${path}${at}`)).instances[0].state).toEqual({ order: 'closed: paid' });
    const wrong = await close({ input: { note: 7 } });
    expect(wrong.status).toBe(422);
    const unknown = await gateway.request(`${path}/commands/clsoe${at}`, {});
    expect(unknown.status).toBe(422);
    expect(await unknown.text()).toContain('Commands now: close.');
    expect((await gateway.api(`${path}${at}`)).instances[0].state).toEqual({ order: 'closed: paid' });
    const { items: runs } = await gateway.api(`/api/runs?contextId=${context_id}`);
    for (const run of runs)
      expect((await gateway.api(`/api/runs/${run.id}/transcript`)).items.flatMap(undocumented)).toEqual([]);
    const odd = await gateway.request(`${path}/commands/close${at}`, { idempotencyKey: 'k\u0000' });
    expect(await odd.text()).toContain('idempotencyKey');
    // A command asks no model.
    expect(model.requests).toHaveLength(2);
  });

  it('[A19] a command gets its first answer again, also if the machine has left the node that has it', async () => {
    const shut = node({ instructions: 'Be shut.' });
    const open = node({
      instructions: 'Be open.',
      commands: {
        close: { description: 'Closes.', inputSchema: z.object({}), execute: () => to('shut') },
      },
    });
    const door = defineAgent({ machine: charter({ nodes: { open, shut } }) });
    await using gateway = await startTestGateway({
      definitions: { door },
      agents: [{ name: 'Door', definition: 'door' }],
    });
    const [{ id }] = (await gateway.api('/api/agents')).items;
    const close = () => gateway.request(`/api/agents/${id}/machine/commands/close`, { idempotencyKey: 'k1' });
    const first = (await (await close()).json()) as object;
    expect(first).toMatchObject({ name: 'close', duplicate: false });
    const { instances, commands } = await gateway.api(`/api/agents/${id}/machine`);
    expect([instances[0].node, commands]).toEqual(['shut', []]);
    expect(await (await close()).json()).toEqual({ ...first, duplicate: true });
  });

  it('[A19] an agent that is not a machine has no commands', async () => {
    await using gateway = await startTestGateway({ agents: [{ name: 'Plain', instructions: 'Be plain.' }] });
    const [{ id }] = (await gateway.api('/api/agents')).items;
    const answer = await gateway.request(`/api/agents/${id}/machine`);
    expect(answer.status).toBe(409);
    expect(await answer.text()).toContain('is no machine');
  });

  it('[A20] a stored instance without a node pauses the agent with a sentence, and migrate repairs it', async () => {
    const home = await scratchFolder('machine');
    let id = '';
    {
      const model = scriptedModel([call('transition_refund', { order: 'A-1' }), 'Ready.']);
      await using gateway = await startTestGateway({ home, model, definitions, agents });
      [{ id }] = (await gateway.api('/api/agents')).items;
      await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'ping' });
      await expect.poll(async () => (await gateway.api('/api/runs?status=completed')).items.length).toBe(1);
    }
    const open = node({ instructions: 'Be open.' });
    const smaller = charter({ nodes: { open } });
    {
      const changed = { desk: defineAgent({ machine: smaller }) };
      await using gateway = await startTestGateway({ home, definitions: changed, agents });
      await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'ping' });
      await expect.poll(async () => (await gateway.api(`/api/agents/${id}`)).status).toBe('invalid');
      const { lastError } = await gateway.api(`/api/agents/${id}`);
      expect(JSON.stringify(lastError)).toContain('refund');
      expect(JSON.stringify(lastError)).toContain('migrate(tree)');
      expect((await gateway.api(`/api/agents/${id}/inbox?status=pending`)).items).toHaveLength(1);
      const shown = await gateway.request(`/api/agents/${id}/machine`);
      expect([shown.status, await shown.text()]).toEqual([409, expect.stringContaining('migrate(tree)')]);
    }
    {
      const model = scriptedModel(['Open again.']);
      const repaired = defineAgent({
        machine: smaller,
        migrate: (tree) => ({ ...tree, root: { ...tree.root, node: 'open', state: {} } }),
      });
      await using gateway = await startTestGateway({ home, model, definitions: { desk: repaired }, agents });
      await expect.poll(async () => (await gateway.api('/api/runs?status=completed')).items.length).toBe(2);
      expect(systemOf(model, 0)).toContain('Be open.');
      expect((await gateway.api(`/api/agents/${id}`)).status).toBe('active');
    }
  });

  it('[A21] the conversation of an instance is compacted on its own, and the machine goes on from there', async () => {
    const long = 'word '.repeat(2_000);
    const script = scriptedModel([
      call('look_up', { order: 'A-1' }),
      long,
      call('transition_refund', { order: 'A-1' }),
      'Here.',
    ]);
    const summary = scriptedModel(() => 'They asked about A-1.');
    const model = { ...script, doGenerate: summary.doGenerate };
    await using gateway = await startTestGateway({
      model,
      definitions,
      agents: [{ name: 'Desk', definition: 'desk', limits: { consciousnessTokens: 1_000 } }],
    });
    const { context_id } = await ask(gateway, 'What about A-1?');
    const second = await ask(gateway, 'Refund it.', context_id);
    expect(second.response).toBe('Here.');
    const sent = JSON.stringify(script.requests.at(-1)?.prompt);
    expect(sent).toContain('They asked about A-1.');
    expect(sent.length).toBeLessThan(long.length);
    expect(systemOf(script, 3)).toContain('Refund the customer.');
  });

  it('a run that fails leaves the machine unchanged, and the next run continues', async () => {
    const model = scriptedModel([
      call('look_up', { order: 'A-1' }),
      new Error('The provider is down.'),
      'It costs 20 €.',
    ]);
    await using gateway = await startTestGateway({ model, definitions, agents });
    const failed = await ask(gateway, 'What about A-1?');
    expect(failed.error.code).toBe('run_failed');
    const { context_id } = failed.error.details;
    expect((await ask(gateway, 'And now?', context_id)).response).toBe('It costs 20 €.');
    expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('Order A-1 cost 20 €.');
  });
});
