import { requires, slice, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/index.ts';
import { startTestGateway, waitFor } from '../../src/testing/index.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const notes = slice('notes', {
  initial: [] as readonly string[],
  on: { Noted: (all, { note }: { type: 'Noted'; note: string }) => [...all, note] },
});

const note = tool({
  description: 'Notes.',
  inputSchema: z.object({ note: z.string() }),
  effects: 'session',
  slices: [notes],
  execute({ note: text }, { session }) {
    session.dispatch({ type: 'Noted', note: text });
    return session.read(notes).length;
  },
});

function paying(paid: string[]) {
  return tool({
    description: 'Pays.',
    inputSchema: z.object({ euros: z.number() }),
    approval: true,
    execute({ euros }) {
      paid.push(`${euros}`);
      return `Paid ${euros} €.`;
    },
  });
}

const sub = (agentConfig: object) => ({
  executionType: 'internal' as const,
  description: 'Asks the helper.',
  inputSchema: { type: 'object', properties: { task: { type: 'string' } }, required: ['task'] },
  execution: { agentConfig },
});

const agents = [{ name: 'Boss', instructions: 'You are the boss.', tools: ['helper'] }];
const asking = [{ toolName: 'helper', input: { task: 'Pay 20 euros.' } }];

describe('a sub-agent', () => {
  it('has the instructions, tools, state and policies of its definition', async () => {
    const model = scriptedModel([
      asking,
      [{ toolName: 'done', input: {} }],
      [{ toolName: 'note', input: { note: 'first' } }],
      [{ toolName: 'done', input: {} }],
      'Noted.',
      'It is done.',
    ]);
    const done = tool({ description: 'Ends.', inputSchema: z.object({}), effects: 'none', execute: () => 'ok' });
    await using gateway = await startTestGateway({
      model,
      definitions: {
        clerk: defineAgent({
          instructions: 'You are a clerk.',
          tools: { note, done },
          policies: [requires({ done: ['note'] })],
        }),
      },
      tools: { helper: sub({ definition: 'clerk', instructions: 'Be quick.' }) },
      agents,
    });
    const { response, context_id } = await gateway.api('/api/chat', { message: 'Go.' });
    expect(response).toBe('It is done.');
    expect(String(model.requests[1]?.prompt[0]?.content)).toMatch(/^You are a clerk\.\n\nBe quick\./);
    expect(JSON.stringify(model.requests[2]?.prompt)).toContain('needs a successful call');
    const [{ id }] = (await gateway.api('/api/agents')).items;
    const { slices } = await gateway.api(`/api/agents/${id}/session?contextId=${context_id}`);
    expect(slices.notes.state).toEqual(['first']);
  });

  it('waits for people: its call asks, and it continues with the answer, also on another gateway', async () => {
    const home = await scratchFolder('sub-agent');
    const paid: string[] = [];
    const options = {
      home,
      tools: { note, pay: paying(paid), helper: sub({ instructions: 'You help.', tools: ['note', 'pay'] }) },
      agents,
    };
    let asked: { run_id: string; context_id: string; pending_calls: { tool_call_id: string; kind: string }[] };
    {
      const model = scriptedModel([
        asking,
        [{ toolName: 'note', input: { note: 'before' } }],
        [{ toolName: 'pay', input: { euros: 20 } }],
      ]);
      await using gateway = await startTestGateway({ ...options, model });
      asked = await gateway.api('/api/chat', { message: 'Go.' });
      expect(asked.pending_calls).toMatchObject([{ tool_name: 'helper', kind: 'input' }]);
      const { items } = await gateway.api('/api/pending');
      expect(JSON.stringify(items)).toContain('wants to call pay');
      expect(paid).toEqual([]);
    }
    const model = scriptedModel(['The helper has paid.', 'All is paid.']);
    await using gateway = await startTestGateway({ ...options, model });
    const answer = { callId: asked.pending_calls[0]?.tool_call_id, result: { approve: true } };
    await gateway.api(`/api/runs/${asked.run_id}/tool-results`, answer);
    await expect.poll(async () => (await gateway.api('/api/runs?status=completed')).items.length).toBe(2);
    expect(paid).toEqual(['20']);
    // The sub-agent's conversation continues: it has its task, its first call, and the result of the approved one.
    const sent = JSON.stringify(model.requests[0]?.prompt);
    expect(sent).toContain('Pay 20 euros.');
    expect(sent).toContain('Paid 20 €.');
    const { messages } = await gateway.api(`/contexts/${asked.context_id}`);
    expect(messages.at(-1)).toEqual({ sender: 'ai', message: 'All is paid.' });
    const [{ id }] = (await gateway.api('/api/agents')).items;
    const { slices } = await gateway.api(`/api/agents/${id}/session?contextId=${asked.context_id}`);
    expect(slices.notes.state).toEqual(['before']);
  });

  it('[K11] counts each reply once in metrics, runs and the report, although its step continues after an answer', async () => {
    const usage = {
      inputTokens: { total: 100, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 10, text: undefined, reasoning: undefined },
    };
    const model = scriptedModel([
      { calls: asking, usage },
      { calls: [{ toolName: 'pay', input: { euros: 20 } }], usage },
      { text: 'The helper has paid.', usage },
      { text: 'All is paid.', usage },
    ]);
    await using gateway = await startTestGateway({
      model,
      tools: { pay: paying([]), helper: sub({ instructions: 'You help.', tools: ['pay'] }) },
      agents,
    });
    const asked = await gateway.api('/api/chat', { message: 'Go.' });
    const answer = { callId: asked.pending_calls[0].tool_call_id, result: { approve: true } };
    await gateway.api(`/api/runs/${asked.run_id}/tool-results`, answer);
    await expect.poll(async () => (await gateway.api('/api/runs?status=completed')).items.length).toBe(2);
    const runs: { usage: { inputTokens: number } }[] = (await gateway.api('/api/runs')).items;
    const report: { inputTokens: number }[] = (await gateway.api('/api/usage?by=agent')).items;
    const metrics = await (await gateway.request('/metrics')).text();
    expect({
      runs: runs.reduce((sum, { usage: { inputTokens } }) => sum + inputTokens, 0),
      report: report.map(({ inputTokens }) => inputTokens),
      metrics: metrics.match(/^lastcall_tokens_total\{.*input"\} .*$/gm),
    }).toEqual({
      runs: 400,
      report: [400],
      metrics: ['lastcall_tokens_total{model="scripted",direction="input"} 400'],
    });
  });

  it('reads if a person refuses', async () => {
    const paid: string[] = [];
    const model = scriptedModel([
      asking,
      [{ toolName: 'pay', input: { euros: 20 } }],
      'They refused.',
      'No money today.',
    ]);
    await using gateway = await startTestGateway({
      model,
      tools: { pay: paying(paid), helper: sub({ instructions: 'You help.', tools: ['pay'] }) },
      agents,
    });
    const asked = await gateway.api('/api/chat', { message: 'Go.' });
    const callId = asked.pending_calls[0].tool_call_id;
    const refused = { callId, result: { approve: false, reason: 'Too expensive.' } };
    await gateway.api(`/api/runs/${asked.run_id}/tool-results`, refused);
    await expect.poll(async () => (await gateway.api('/api/runs?status=completed')).items.length).toBe(2);
    expect(paid).toEqual([]);
    expect(JSON.stringify(model.requests[2]?.prompt)).toContain('Too expensive.');
  });

  it('that another sub-agent called waits for people too, also on another gateway, and the questions come one after the other', async () => {
    const home = await scratchFolder('sub-agent');
    const paid: string[] = [];
    const options = {
      home,
      tools: {
        pay: paying(paid),
        cashier: sub({ instructions: 'You are the cashier.', tools: ['pay'] }),
        helper: sub({ instructions: 'You help.', tools: ['cashier'] }),
      },
      agents,
    };
    const twice = ['Pay 20.', 'Pay 30.'].map((task) => ({ toolName: 'cashier', input: { task } }));
    // Each cashier has its own conversation. Both are asked at the same time.
    const model = () =>
      scriptedModel(({ prompt }) => {
        const [system, said] = [String(prompt[0]?.content), JSON.stringify(prompt)];
        if (system.startsWith('You are the cashier.')) {
          if (said.includes('Paid') || said.includes('Too much.'))
            return said.includes('Paid') ? 'I paid.' : 'Not paid.';
          return [{ toolName: 'pay', input: { euros: said.includes('Pay 20.') ? 20 : 30 } }];
        }
        if (system.startsWith('You help.')) return said.includes('I paid.') ? 'One of two.' : twice;
        return said.includes('One of two.') ? 'That is all.' : asking;
      });
    let asked: { run_id: string; context_id: string; pending_calls: { tool_call_id: string }[] };
    {
      await using gateway = await startTestGateway({ ...options, model: model() });
      asked = await gateway.api('/api/chat', { message: 'Go.' });
      expect(asked.pending_calls).toMatchObject([{ tool_name: 'helper', kind: 'input' }]);
      const { items } = await gateway.api('/api/pending');
      expect(items).toHaveLength(1);
      expect(JSON.stringify(items)).toContain('A sub-agent wants to call pay {\\"euros\\":20}. May it?');
    }
    const callId = asked.pending_calls[0]?.tool_call_id;
    {
      await using gateway = await startTestGateway({ ...options, model: model() });
      await gateway.api(`/api/runs/${asked.run_id}/tool-results`, { callId, result: { approve: true } });
      await expect
        .poll(async () => JSON.stringify((await gateway.api('/api/pending')).items))
        .toContain('30}. May it?');
      expect(paid).toEqual(['20']);
    }
    await using gateway = await startTestGateway({ ...options, model: model() });
    const [{ runId, round }] = (await gateway.api('/api/pending')).items;
    const refused = { callId, round, result: { approve: false, reason: 'Too much.' } };
    await gateway.api(`/api/runs/${runId}/tool-results`, refused);
    const last = async () => (await gateway.api(`/contexts/${asked.context_id}`)).messages.at(-1);
    await expect.poll(last).toEqual({ sender: 'ai', message: 'That is all.' });
    expect(paid).toEqual(['20']);
    expect((await gateway.api('/api/pending')).items).toEqual([]);
  });

  const pays = [{ toolName: 'pay', input: { euros: 20 } }];
  const treasurers = { answerers: { roles: ['treasurer'] }, expiresInMs: 3_600_000 };
  const helps = (tool: string) => ({
    ...sub({ instructions: 'You help.', tools: [tool] }),
    ...{ executionType: 'gateway' as const, visible: true },
  });
  it.each([
    ['its own', [asking, pays, 'I asked.', 'Paid.', 'All is paid.'], { helper: helps('pay') }],
    [
      'that of a sub-agent that it called',
      [asking, [{ toolName: 'cashier', input: { task: 'Pay.' } }], pays, 'I asked.', 'Paid.', 'Paid.', 'All is paid.'],
      { helper: helps('cashier'), cashier: sub({ instructions: 'You pay.', tools: ['pay'] }) },
    ],
  ])(
    '[G33] asks those whom the tool names whose call waits, and as long as it waits: %s',
    async (_whose, replies, tools) => {
      const paid: string[] = [];
      await using gateway = await startTestGateway({
        model: scriptedModel(replies),
        tools: { ...tools, pay: { tool: paying(paid), ...treasurers } },
        agents,
        spaces: [{ name: 'Office', agents: ['Boss'], people: [{ name: 'Ada', role: 'treasurer' }, { name: 'Eve' }] }],
      });
      const { api, request } = gateway;
      const people = (await api('/api/entities?kind=human')).items as { id: string; displayName: string }[];
      const tokenOf = async (name: string): Promise<string> =>
        (await api(`/api/entities/${people.find(({ displayName }) => displayName === name)?.id}/token`, {})).token;
      const [ada, eve] = [await tokenOf('Ada'), await tokenOf('Eve')];
      const [{ id: office }] = (await api('/api/spaces')).items;
      await api(`/api/spaces/${office}/messages`, { text: 'Pay 20 euros.' }, { key: eve });
      const waiting = await waitFor(async () => (await api('/api/pending')).items[0]);
      expect(waiting).toMatchObject({ answeredBy: { roles: ['treasurer'] }, expiresAt: expect.any(Number) });
      expect((await api('/api/pending', undefined, { key: eve })).items).toEqual([]);
      const approval = { callId: waiting.callId, result: { approve: true } };
      const answer = (key: string) => request(`/api/runs/${waiting.runId}/tool-results`, approval, { key });
      expect((await answer(eve)).status).toBe(403);
      expect((await answer(ada)).status).toBe(200);
      await expect.poll(() => paid).toEqual(['20']);
    },
  );

  it.each([
    ['fails if its call has no card and the question names no one', {}, {}, 0],
    ['waits for those whom the question names', {}, { answerers: { roles: ['host'] } }, 1],
    ['waits for the space if its call has a card', { executionType: 'gateway' as const }, {}, 1],
  ])('a question to the space %s', async (_what, ofHelper, ofQuestion, waiting) => {
    const model = scriptedModel([asking, [{ toolName: 'ask', input: {} }], 'That is all.', 'Done.']);
    await using gateway = await startTestGateway({
      model,
      tools: {
        ask: { executionType: 'space', ...ofQuestion },
        helper: { ...sub({ instructions: 'You help.', tools: ['ask'] }), ...ofHelper },
      },
      agents,
      spaces: [{ name: 'Office', agents: ['Boss'], people: [{ name: 'Ada' }] }],
    });
    const { api } = gateway;
    const [{ id: office }] = (await api('/api/spaces')).items;
    const [{ id: ada }] = (await api('/api/entities?kind=human')).items;
    await api(`/api/spaces/${office}/messages`, { entityId: ada, text: 'Go.' });
    await waitFor(async () => ['waiting', 'completed'].includes((await api('/api/runs')).items[0]?.status));
    expect((await api('/api/pending')).items).toHaveLength(waiting);
    const read = JSON.stringify(model.requests[2]?.prompt);
    if (waiting === 0) expect(read).toContain('not shown in any space, so no one could answer');
  });

  it('[E2] asks in a fork only those who answer its calls', async () => {
    const goes = { changes: {}, atStep: 1 };
    await using gateway = await startTestGateway({
      model: scriptedModel([asking, pays, asking, pays]),
      tools: { helper: helps('pay'), pay: { tool: paying([]), ...treasurers } },
      agents,
    });
    const { api } = gateway;
    const asked = await api('/api/chat', { message: 'Go.' });
    const { runId } = await api(`/api/runs/${asked.run_id}/forks`, goes);
    const ofFork = async () =>
      ((await api('/api/pending')).items as { callId: string; runId: string; kind: string }[]).find(
        (one) => one.runId !== asked.run_id,
      );
    const waiting = await waitFor(ofFork);
    const approval = { callId: waiting.callId, approve: true, runForReal: 'helper' };
    await api(`/api/runs/${runId}/tool-results`, approval);
    const question = await waitFor(async () => {
      const found = await ofFork();
      return found?.kind === 'input' && found;
    });
    expect(question).not.toHaveProperty('answeredBy');
    expect(question).not.toHaveProperty('expiresAt');
  });

  it('[G28] gets the answer as it was given, also if it looks like one to a question for a text', async () => {
    const answer = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] };
    const model = scriptedModel([asking, [{ toolName: 'ask', input: {} }], 'They said blue.', 'Blue.']);
    await using gateway = await startTestGateway({
      model,
      tools: {
        ask: { executionType: 'space', resultSchema: answer },
        helper: sub({ instructions: 'You help.', tools: ['ask'] }),
      },
      agents,
    });
    const { api } = gateway;
    const asked = await api('/api/chat', { message: 'Go.' });
    const given = { callId: asked.pending_calls[0].tool_call_id, result: { answer: 'blue' } };
    await api(`/api/runs/${asked.run_id}/tool-results`, given);
    await expect.poll(() => model.requests.length).toBe(4);
    const result = model.requests[2]?.prompt.at(-1);
    expect(result).toMatchObject({ role: 'tool', content: [{ output: { value: '{"answer":"blue"}' } }] });
  });

  it('is refused with a definition that does not exist, or that is not for sub-agents', async () => {
    const clerk = defineAgent({ instructions: 'You are a clerk.' });
    const start = startTestGateway({ definitions: { clerk }, tools: { helper: sub({ definition: 'clrek' }) }, agents });
    await expect(start).rejects.toThrow('tools.helper.execution.agentConfig.definition names the definition "clrek"');
  });
});
