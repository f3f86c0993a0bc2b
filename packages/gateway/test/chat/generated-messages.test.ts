import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { describeWorlds } from '../support/describe-worlds.ts';
import { textsOf } from '../support/requests.ts';
import { call, chatApi, fixedTool } from './chat-api.ts';

describeWorlds('generated messages', (open) => {
  test('[C1] add-ai-message stores a given message in an empty context without asking a model, and the next turn reads it', async () => {
    const model = scriptedModel(['You are welcome.']);
    const world = await open({ models: { default: model } });
    const api = await chatApi(world);
    const { id: context_id } = await api.done('POST', '/contexts', { agent: await api.agent() });
    const given = await api.done('POST', '/chat/add-ai-message', { context_id, message: 'I am Bot.' });
    expect(given).toMatchObject({
      response: 'I am Bot.',
      generated_messages: [{ sender: 'ai', message: 'I am Bot.' }],
      stop: { reason: 'end_turn', by: 'text' },
    });
    expect(model.requests).toEqual([]);
    const { messages } = await api.done('GET', `/contexts/${String(context_id)}`);
    expect(messages).toEqual([{ sender: 'ai', message: 'I am Bot.' }]);
    await api.done('POST', '/chat', { context_id, message: 'Thanks' });
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain('I am Bot.');
    expect(textsOf(model.requests[0]?.prompt ?? [])).toEqual(['Thanks']);
  });

  test('[C1] add-ai-message stores a given message in a context that it creates', async () => {
    const model = scriptedModel(() => 'Never.');
    const api = await chatApi(await open({ models: { default: model } }));
    const agent = await api.agent();
    const { context_id } = await api.done('POST', '/chat/add-ai-message', { agent, message: 'I am Bot.' });
    const { messages } = await api.done('GET', `/contexts/${String(context_id)}`);
    expect(messages).toEqual([{ sender: 'ai', message: 'I am Bot.' }]);
    expect(model.requests).toEqual([]);
  });

  test('[C5] tool_input is the object that the model wrote, even if no tool accepted it, or its text if it is not an object', async () => {
    const strict = { type: 'object', properties: { at: { type: 'number' } }, required: ['at'] };
    const model = scriptedModel([
      [
        call('no_such_tool', { at: 1 }),
        call('look', { at: 'here' }),
        { toolName: 'look', input: '{"at":' },
        { toolName: 'no_such_tool', input: '[1]' },
      ],
      'Done.',
    ]);
    const world = await open({ models: { default: model } });
    const api = await chatApi(world);
    const agent = await api.agent('Bot', { tools: [fixedTool('look', 'Seen.', { inputSchema: strict })] });
    const answer = await api.done('POST', '/chat', { agent, message: 'Go' });
    const inputs = (answer.generated_messages as { type?: string; tool_input?: unknown }[])
      .filter(({ type }) => type === 'tool_call')
      .map(({ tool_input }) => tool_input);
    expect(inputs).toEqual([{ at: 1 }, { at: 'here' }, '{"at":', '[1]']);
    const { messages } = await api.done('GET', `/contexts/${String(answer.context_id)}`);
    expect(messages).toEqual(answer.generated_messages);
  });

  test('[C8] a tool id that no tool has is refused under the path of its field', async () => {
    const api = await chatApi(await open({ models: { default: scriptedModel(() => 'Never.') } }));
    const terminating_config = { tool_ids: ['no-such-tool'] };
    const body = { agent: await api.agent(), message: 'Go', terminating_config };
    const { error } = (await api.call('POST', '/chat', { body })).body;
    expect(error).toMatchObject({
      code: 'unknown_tool',
      details: { path: 'terminating_config.tool_ids', toolId: 'no-such-tool' },
    });
  });
});
