import { fail, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeWorlds } from '../support/describe-worlds.ts';
import { systemOf, textsOf } from '../support/requests.ts';
import { call, chatApi, fixedTool } from './chat-api.ts';

const anything = z.looseObject({});
const plain = tool({ description: 'Looks.', inputSchema: anything, execute: () => 'Looked.' });

describeWorlds('the chat endpoints', (open) => {
  test('[C1] POST /chat adds a human message, /chat/invoke runs without one, and the model reads both turns', async () => {
    const model = scriptedModel(['One.', 'Two.']);
    const world = await open({ models: { default: model } });
    const api = await chatApi(world);
    const agent = await api.agent();
    const { id: context_id } = await api.done('POST', '/contexts', { agent });
    const said = await api.done('POST', '/chat', { context_id, message: 'Hi' });
    expect(said).toEqual({
      response: 'One.',
      saved_ai_messages: true,
      generated_messages: [
        { sender: 'human', message: 'Hi' },
        { sender: 'ai', message: 'One.' },
      ],
      context_id,
      run_id: expect.any(String),
      stop: { reason: 'end_turn', by: 'text' },
    });
    const invoked = await api.done('POST', '/api/chat/invoke', { context_id });
    expect(invoked.generated_messages).toEqual([{ sender: 'ai', message: 'Two.' }]);
    expect(model.requests[1]?.prompt.map(({ role }) => role)).toEqual(['system', 'user', 'assistant']);
    const { messages } = await api.done('GET', `/contexts/${String(context_id)}`);
    expect(messages).toEqual([
      { sender: 'human', message: 'Hi' },
      { sender: 'ai', message: 'One.' },
      { sender: 'ai', message: 'Two.' },
    ]);
  });

  test('[C1] add-ai-message lets the model write with a prompt that is not stored, stores a given text without a model, or invokes', async () => {
    const model = scriptedModel(['Welcome!', 'Third.']);
    const world = await open({ models: { default: model } });
    const api = await chatApi(world);
    const { id: context_id } = await api.done('POST', '/contexts', { agent: await api.agent() });
    const path = '/chat/add-ai-message';
    const prompted = await api.done('POST', path, { context_id, prompt: 'Greet the user.' });
    expect(prompted).toMatchObject({
      response: 'Welcome!',
      generated_messages: [{ sender: 'ai', message: 'Welcome!' }],
    });
    expect(textsOf(model.requests[0]?.prompt ?? [])).toEqual(['Greet the user.']);
    const given = await api.done('POST', path, { context_id, message: 'I am Bot.' });
    expect(given).toMatchObject({
      response: 'I am Bot.',
      generated_messages: [{ sender: 'ai', message: 'I am Bot.' }],
    });
    expect(model.requests).toHaveLength(1);
    expect((await api.done('POST', path, { context_id })).response).toBe('Third.');
    expect(JSON.stringify(model.requests[1]?.prompt)).not.toContain('Greet the user.');
    const { messages } = await api.done('GET', `/contexts/${String(context_id)}`);
    expect(messages).toEqual(['Welcome!', 'I am Bot.', 'Third.'].map((message) => ({ sender: 'ai', message })));
    const terminating_config = { tool_ids: ['complete_task'] };
    for (const body of [
      { context_id, prompt: 'x', message: 'y' },
      { context_id, message: 'y', terminating_config },
    ])
      expect((await api.call('POST', path, { body })).status).toBe(422);
    expect(model.requests).toHaveLength(2);
  });

  test('[C2] [R20] a reply without a call is answered with the default nudge, once, and the next one ends the run', async () => {
    const model = scriptedModel(() => 'Just text.');
    const world = await open({ models: { default: model } });
    const api = await chatApi(world);
    const agent = await api.agent();
    const sent = { agent, message: 'Do it.', terminating_config: { tool_ids: ['complete_task'] } };
    const { status, body } = await api.call('POST', '/chat', { body: sent });
    expect([status, body.error.code, body.error.message]).toEqual([
      422,
      'max_consecutive_nudges_exceeded',
      'Max consecutive nudges exceeded',
    ]);
    expect(model.requests).toHaveLength(2);
    expect(systemOf(model.requests[1] ?? { prompt: [] })).toContain(
      'You are currently in an autonomous execution mode with no user interaction. You must complete your task by calling one of the terminating tools.',
    );
  });

  test('[C2] nudges, their message and the number of invocations are configurable, and 64 invocations are allowed without', async () => {
    const model = scriptedModel((_request, invocation) => {
      if (invocation === 64) return call('complete_task', { result: 'done' });
      return invocation % 2 === 1 ? 'Hm.' : call('look');
    });
    const world = await open({ models: { default: model }, tools: { look: plain } });
    const api = await chatApi(world);
    const agent = await api.agent('Bot', { tools: ['look'] });
    const terminating_config = { tool_ids: ['complete_task'], consecutive_nudges: 1, nudge_message: 'Go on.' };
    const answer = await api.done('POST', '/chat', { agent, message: 'Go', terminating_config });
    expect(answer.response).toBe('Task completed: done');
    expect(model.requests).toHaveLength(64);
    expect(systemOf(model.requests[63] ?? { prompt: [] })).toContain('Go on.');
  });

  test('[C3] tool_ids takes the id of a registered tool, a registry key, or a name, also of tools that the agent does not have', async () => {
    const model = scriptedModel(['submit', 'report_error', 'of_file'].map((name) => [call(name, { error: 'E' })]));
    const world = await open({ models: { default: model }, tools: { of_file: plain } });
    const api = await chatApi(world);
    const agent = await api.agent();
    const { id } = await api.done<{ id: string }>('POST', '/api/tools', fixedTool('submit', 'Submitted.'));
    const run = (tool_ids: string[]) =>
      api.done('POST', '/chat', { agent, message: 'Go', terminating_config: { tool_ids } });
    expect(await run([id])).toMatchObject({ response: 'Submitted.', stop: { by: 'terminating', tool: 'submit' } });
    expect((await run(['report_error'])).response).toBe('Error reported: E');
    expect((await run(['of_file', 'complete_task'])).response).toBe('Looked.');
    const offered = model.requests.map(({ tools = [] }) =>
      tools.map(({ name }) => name).filter((name) => name !== 'read_output'),
    );
    expect(offered).toEqual([['submit'], ['report_error'], ['of_file', 'complete_task']]);
  });

  test('[C13] the registry has complete_task, report_error and pass_event, and a tool of your own with such a name comes first', async () => {
    const ends = [
      call('complete_task', { result: 'R' }),
      call('report_error', { error: 'E' }),
      call('pass_event'),
      call('complete_task', { result: 'R' }),
    ];
    const model = scriptedModel(ends.map((one) => [one]));
    const world = await open({ models: { default: model } });
    const api = await chatApi(world);
    const agent = await api.agent();
    const tool_ids = ['complete_task', 'report_error', 'pass_event'];
    const run = async () =>
      (await api.done('POST', '/chat', { agent, message: 'Go', terminating_config: { tool_ids } })).response;
    expect([await run(), await run(), await run()]).toEqual(['Task completed: R', 'Error reported: E', 'Event passed']);
    await api.done('POST', '/api/tools', fixedTool('complete_task', 'My own.'));
    expect(await run()).toBe('My own.');
    await api.done('DELETE', '/api/tools/complete_task');
  });

  test('[C4] [C5] generated messages are in order, hold only calls that ran, each with its response, and no nudge', async () => {
    const model = scriptedModel([
      { text: 'I look first.', calls: [call('look', { at: 1 }), call('broken')] },
      'Thinking.',
      [call('complete_task', { result: 'ok' }), call('look', { at: 2 })],
    ]);
    const broken = tool({ description: 'Fails.', inputSchema: anything, execute: () => fail('No luck.') });
    const world = await open({ models: { default: model }, tools: { look: plain, broken } });
    const api = await chatApi(world);
    const agent = await api.agent('Bot', { tools: ['look', 'broken'] });
    const terminating_config = { tool_ids: ['complete_task'] };
    const answer = await api.done('POST', '/chat', { agent, message: 'Go', terminating_config });
    const id = expect.any(String);
    expect(answer).toEqual({
      response: 'Task completed: ok',
      saved_ai_messages: true,
      generated_messages: [
        { sender: 'human', message: 'Go' },
        { sender: 'ai', message: 'I look first.' },
        { type: 'tool_call', tool_call_id: id, tool_name: 'look', tool_input: { at: 1 } },
        { type: 'tool_response', tool_call_id: id, tool_output: 'Looked.' },
        { type: 'tool_call', tool_call_id: id, tool_name: 'broken', tool_input: {} },
        { type: 'tool_response', tool_call_id: id, tool_output: expect.stringContaining('No luck.') },
        { sender: 'ai', message: 'Thinking.' },
        { type: 'tool_call', tool_call_id: id, tool_name: 'complete_task', tool_input: { result: 'ok' } },
        { type: 'tool_response', tool_call_id: id, tool_output: 'Task completed: ok' },
      ],
      context_id: id,
      run_id: id,
      stop: { reason: 'end_turn', by: 'terminating', tool: 'complete_task' },
    });
    const messages = answer.generated_messages as { tool_call_id?: string }[];
    expect(messages[2]?.tool_call_id).toBe(messages[3]?.tool_call_id);
    const { items } = await api.done<{ items: { kind: string }[] }>(
      'GET',
      `/api/runs/${String(answer.run_id)}/transcript`,
    );
    expect(items.map(({ kind }) => kind)).toContain('nudge');
  });

  test('[C4] with save: false the response says so, and nothing of the run stays in the conversation', async () => {
    const model = scriptedModel(['Kept.', [call('look', { at: 'SECRET-7' })], 'SECRET-8', 'Later.']);
    const world = await open({ models: { default: model }, tools: { look: plain } });
    const api = await chatApi(world);
    const agent = await api.agent('Bot', { tools: ['look'] });
    const { context_id } = await api.done('POST', '/chat', { agent, message: 'Hi' });
    const body = { context_id, message: 'SECRET-9', save: false };
    const headers = { 'idempotency-key': 'once' };
    const { body: unsaved } = await api.call('POST', '/chat', { body, headers });
    expect(unsaved).toMatchObject({ saved_ai_messages: false, response: 'SECRET-8' });
    expect(unsaved.generated_messages).toHaveLength(4);
    const { messages } = await api.done('GET', `/contexts/${String(context_id)}`);
    expect(messages).toHaveLength(2);
    for (const table of ['transcript_entries', 'calls', 'inbox_events'] as const)
      expect(JSON.stringify(await world.store.db.selectFrom(table).selectAll().execute())).not.toContain('SECRET');
    // The repeated request gets the first response.
    expect((await api.call('POST', '/chat', { body, headers })).body).toEqual(unsaved);
    await api.done('POST', '/chat', { context_id, message: 'And now?' });
    expect(JSON.stringify(model.requests[3]?.prompt)).not.toContain('SECRET');
    expect(textsOf(model.requests[3]?.prompt ?? [])).toEqual(['Hi', 'And now?']);
  });

  test('[C6] without a terminating_config a terminal tool ends the turn, and a contract of the agent itself does not count', async () => {
    const done = tool({ description: 'Ends.', inputSchema: anything, terminal: true, execute: () => 'The end.' });
    const world = await open({ models: { default: scriptedModel([[call('done')], 'Text.']) }, tools: { done } });
    const api = await chatApi(world);
    const agent = await api.agent('Bot', { tools: ['done'], terminating: { toolIds: ['done'] } });
    const ended = await api.done('POST', '/chat', { agent, message: 'Go' });
    expect(ended).toMatchObject({ response: 'The end.', stop: { reason: 'end_turn', by: 'terminal', tool: 'done' } });
    expect((await api.done('POST', '/chat', { agent, message: 'Go' })).response).toBe('Text.');
  });

  test('[C7] an exceeded number of invocations answers 422 with what was done so far, and that is saved', async () => {
    const world = await open({ models: { default: scriptedModel(() => call('look')) }, tools: { look: plain } });
    const api = await chatApi(world);
    const agent = await api.agent('Bot', { tools: ['look'] });
    const terminating_config = { tool_ids: ['complete_task'], max_invocations: 2 };
    const { status, body } = await api.call('POST', '/chat', { body: { agent, message: 'Go', terminating_config } });
    expect([status, body.error.code, body.error.message]).toEqual([
      422,
      'max_invocations_exceeded',
      'Max invocations exceeded',
    ]);
    const types = body.generated_messages.map((one: { type?: string; sender?: string }) => one.type ?? one.sender);
    expect(types).toEqual(['human', 'tool_call', 'tool_response', 'tool_call', 'tool_response']);
    expect(body.error.details).toMatchObject({
      generated_messages: body.generated_messages,
      stop: { reason: 'max_invocations' },
    });
    const saved = await api.done('GET', `/contexts/${body.error.details.context_id}`);
    expect(saved.messages).toEqual(body.generated_messages);
    const run = await api.done('GET', `/api/runs/${body.error.details.run_id}`);
    expect(run).toMatchObject({ status: 'failed', stop: { reason: 'max_invocations' } });
  });

  test('[C8] an unknown conversation is 404, an unknown or foreign tool 422 by name, a bad field 422 by path, and no model is asked', async () => {
    const model = scriptedModel(() => 'Never.');
    const world = await open({ models: { default: model } });
    const api = await chatApi(world);
    await api.agent('Other', { tools: [fixedTool('of_other', 1)] });
    const agent = await api.agent();
    const { id: context_id } = await api.done('POST', '/contexts', { agent });
    const refused = async (body: object) => {
      const answer = await api.call('POST', '/chat', { body: { message: 'Hi', ...body } });
      const { code, message, details } = answer.body.error;
      return [answer.status, code, details?.path ?? details?.toolId, message] as const;
    };
    expect((await refused({ context_id: 'nobodys' })).slice(0, 2)).toEqual([404, 'not_found']);
    for (const foreign of ['no-such-tool', 'of_other']) {
      const [status, code, , message] = await refused({
        context_id,
        terminating_config: { tool_ids: ['complete_task', foreign] },
      });
      expect([status, code]).toEqual([422, 'unknown_tool']);
      expect(message).toContain(`"${foreign}"`);
    }
    const bad: readonly (readonly [object, string])[] = [
      [{ context_id, terminating_config: {} }, 'terminating_config.tool_ids'],
      [{ context_id, terminating_config: { tool_ids: [] } }, 'terminating_config.tool_ids'],
      [
        { context_id, terminating_config: { tool_ids: ['x'], consecutive_nudges: -1 } },
        'terminating_config.consecutive_nudges',
      ],
      [
        { context_id, terminating_config: { tool_ids: ['x'], max_invocations: 0 } },
        'terminating_config.max_invocations',
      ],
      [
        { context_id, terminating_config: { tool_ids: ['x'], max_invocations: 1.5 } },
        'terminating_config.max_invocations',
      ],
      [{ context_id, message: ' ' }, 'message'],
      [{ context_id, surprise: 1 }, 'surprise'],
      [{ context_id, agent }, 'agent'],
      [{ message: 'Hi' }, 'agent'],
    ];
    for (const [body, path] of bad) expect((await refused(body)).slice(0, 3)).toEqual([422, 'invalid_request', path]);
    expect((await api.call('POST', '/chat/invoke', { body: { context_id } })).body.error.code).toBe('empty_context');
    await world.idle();
    expect(model.requests).toEqual([]);
  });

  test('[C8] conversations, tools, agents and spaces take an id of the caller, and one that is taken is 409', async () => {
    const world = await open({ models: { default: scriptedModel(() => 'Hi.') } });
    const api = await chatApi(world);
    const created: readonly (readonly [path: string, body: object])[] = [
      ['/api/agents', { id: 'agent-1', name: 'The only Bob', instructions: '' }],
      ['/contexts', { id: 'ctx-1', agent: 'agent-1' }],
      ['/api/contexts', { id: 'ctx_2', agent: 'The only Bob' }],
      ['/api/tools', { id: 'tool-1', ...fixedTool('one', 1) }],
      ['/api/spaces', { id: 'space-1', name: 'Lobby' }],
    ];
    for (const [path, body] of created) {
      expect((await api.call('POST', path, { body })).body.id).toBe((body as { id: string }).id);
      const again = await api.call('POST', path, {
        body: { ...body, ...('executionType' in body ? { name: 'two' } : {}) },
      });
      expect([path, again.status, again.body.error.code]).toEqual([path, 409, 'id_taken']);
      for (const id of ['', 'a b', 'x'.repeat(65), 'ä', '../x'])
        expect((await api.call('POST', path, { body: { ...body, id } })).body.error.details.path).toBe('id');
    }
    // An agent and a conversation are both threads, so neither can take the id of the other.
    const crossed = await api.call('POST', '/contexts', { body: { id: 'agent-1', agent: 'agent-1' } });
    expect(crossed.status).toBe(409);
    const other = await api.call('POST', '/api/agents', { body: { id: 'ctx-1', name: 'Bot', instructions: '' } });
    expect(other.status).toBe(409);
    expect((await api.done('POST', '/chat', { context_id: 'ctx-1', message: 'Hi' })).context_id).toBe('ctx-1');
  });
});
