import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { call } from '../chat/chat-api.ts';
import { toRequest } from '../http/api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { systemOf, textsOf } from '../support/requests.ts';
import { openChatWorld } from './chat-world.ts';

describeWorlds('useChat: errors, edits and other answers', (open) => {
  test('[S11] a model that fails is an error of the page, and the next message works', async () => {
    const model = scriptedModel([new Error('The provider is closed.'), 'Open again.']);
    const page = (await openChatWorld(await open({ models: { default: model } }))).page();
    await page.say('Hi');
    expect(page.chat.status).toBe('error');
    expect(page.chat.error?.message).toContain('The agent could not answer: ');
    expect(page.chunks.at(-1)).toMatchObject({ type: 'error' });
    // The error text of a provider is only for operators, because it may quote anything.
    expect(JSON.stringify([page.chunks, page.chat.error])).not.toContain('The provider is closed.');
    page.chat.clearError();
    await page.say('Again?');
    expect(page.shown).toEqual(['Open again.']);
  });

  test('[S11] after a failure the page requests another answer, and an unchanged repeated message is not an edit', async () => {
    const model = scriptedModel([new Error('The provider is closed.'), 'Open again.', 'Never said.']);
    const page = (await openChatWorld(await open({ models: { default: model } }))).page();
    await page.say('Hi');
    // Nothing runs twice: it is the same run that failed.
    await page.chat.sendMessage();
    expect([page.chat.status, model.requests.length]).toEqual(['error', 1]);
    await page.chat.regenerate();
    expect(page.shown).toEqual(['Open again.']);
    expect(page.chat.messages).toHaveLength(2);
    expect(model.requests.map(systemOf).join()).not.toContain('replaces an earlier message');
  });

  test('[S11] a refused request is an error of the page whose message is a sentence', async () => {
    const chats = await openChatWorld(await open({ models: { default: scriptedModel([]) } }));
    const page = chats.page({ secret: 'wrong' });
    await page.say('Hi');
    expect([page.chat.status, page.chat.error?.message]).toEqual(['error', 'The key or token is not valid.']);
    await chats.api.done('POST', `/api/agents/${chats.agentId}/pause`);
    const paused = chats.page();
    await paused.say('Hi');
    expect(paused.chat.error?.message).toContain('is paused: resume it first.');
  });

  test('[S11] a cancelled run ends the message and its open call, and triggers no automatic post', async () => {
    const started = Promise.withResolvers<void>();
    const slow = tool({
      description: 'Waits.',
      inputSchema: z.object({}),
      execute: async (_input, { abortSignal }) => {
        started.resolve();
        await new Promise((resolve) => abortSignal.addEventListener('abort', resolve));
      },
    });
    const model = scriptedModel([[call('slow')]]);
    const chats = await openChatWorld(await open({ models: { default: model }, tools: { slow } }), { tools: ['slow'] });
    let runId = '';
    const page = chats.page({ onData: ({ data }) => void (runId = (data as { runId: string }).runId) });
    const asked = page.say('Wait.');
    await started.promise;
    await expect.poll(() => runId).not.toBe('');
    await chats.api.done('POST', `/api/runs/${runId}/cancel`);
    await asked;
    expect(page.shown).toEqual([['slow', 'output-error', expect.any(String)]]);
    expect(page.chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'interrupted' });
    expect(page.requests).toHaveLength(1);
  });

  test('[S11] an edited message is a new turn: the earlier turn stays in the conversation, and the model reads that', async () => {
    const model = scriptedModel(['Booked Ulm.', 'Booked Bonn.']);
    const page = (await openChatWorld(await open({ models: { default: model } }))).page();
    await page.say('Book Ulm.');
    const messageId = page.chat.messages[0]?.id ?? '';
    await page.chat.sendMessage({ text: 'Book Bonn.', messageId });
    expect(page.chat.messages).toHaveLength(2);
    expect(page.shown).toEqual(['Booked Bonn.']);
    const second = model.requests[1];
    expect(textsOf(second?.prompt ?? [])).toEqual(['Book Ulm.', 'Book Bonn.']);
    expect(JSON.stringify(second?.prompt)).toContain('Booked Ulm.');
    expect(second === undefined ? '' : systemOf(second)).toContain('replaces an earlier message');
  });

  test('[S11] a message of one chat does not count as a version of a message of another chat with a similar id', async () => {
    const model = scriptedModel(() => 'Hello.');
    const chats = await openChatWorld(await open({ models: { default: model } }));
    const say = async (id: string, messageId: string, text: string): Promise<void> => {
      const message = { id: messageId, role: 'user', parts: [{ type: 'text', text }] };
      const body = { id, messages: [message], trigger: 'submit-message', messageId };
      const sent = toRequest('POST', `/api/agents/${chats.agentId}/chat`, { secret: chats.api.key, body });
      expect(await (await chats.api.app.fetch(sent)).text()).toContain('Hello.');
    };
    await say('chatxone', 'm1', 'Hi');
    await say('chat_one', 'm0', 'Hi');
    await say('chat_one', 'm1', 'A new one');
    expect(model.requests.map(systemOf).join()).not.toContain('replaces an earlier message');
    await say('chat_one', 'm1', 'An edit');
    expect(systemOf(model.requests.at(-1) ?? { prompt: [] })).toContain('replaces an earlier message');
  });

  test('[S11] another answer to the last message reads the calls of the first one, and replaces it in the page', async () => {
    let added = 0;
    const add = tool({ description: 'Counts.', inputSchema: z.object({}), execute: () => ++added });
    const model = scriptedModel([[call('add')], 'One.', 'One, I said.']);
    const chats = await openChatWorld(await open({ models: { default: model }, tools: { add } }), { tools: ['add'] });
    const page = chats.page();
    await page.say('Count.');
    const [, first] = page.chat.messages;
    await page.chat.regenerate();
    expect(page.shown).toEqual(['One, I said.']);
    expect(page.chat.messages).toHaveLength(2);
    expect(page.chat.messages[1]?.id).not.toBe(first?.id);
    const told = JSON.stringify(model.requests[2]?.prompt);
    expect(told).toContain('One.');
    expect(told).toContain('asks for another answer');
    expect(added).toBe(1);
    const { messages } = await chats.api.done<{ messages: object[] }>('GET', `/contexts/${page.chat.id}`);
    expect(messages.filter((one) => 'sender' in one)).toEqual([
      { sender: 'human', message: 'Count.' },
      { sender: 'ai', message: 'One.' },
      { sender: 'ai', message: 'One, I said.' },
    ]);
  });

  test('[S11] another answer to an earlier message is an answer to that message', async () => {
    const model = scriptedModel(['Ulm.', 'Bonn.', 'Ulm, I said.', 'Bonn, I said.']);
    const page = (await openChatWorld(await open({ models: { default: model } }))).page();
    await page.say('Where does "Ada" live?');
    await page.say('And Ben?');
    const [first, ...others] = page.chat.messages;
    const asked = (at: number): string => textsOf(model.requests[at]?.prompt ?? []).at(-1) ?? '';
    await page.chat.regenerate({ messageId: others[0]?.id ?? '' });
    expect(page.chat.messages.map(({ id }) => id)[0]).toBe(first?.id);
    expect(page.shown).toEqual(['Ulm, I said.']);
    expect(asked(2)).toContain(JSON.stringify('Where does "Ada" live?'));
    page.chat.messages = [...(first === undefined ? [] : [first]), ...others];
    await page.chat.regenerate();
    expect(page.shown).toEqual(['Bonn, I said.']);
    expect(asked(3)).toContain('"And Ben?"');
  });

  test('[S11] a message that was cancelled while it waited behind another is read when the page requests another answer', async () => {
    const held = Promise.withResolvers<void>();
    const model = scriptedModel([() => held.promise.then(() => 'First.'), 'Second.']);
    const chats = await openChatWorld(await open({ models: { default: model } }));
    const first = chats.page();
    const answered = first.say('One');
    await expect.poll(() => model.requests.length).toBe(1);
    let runId = '';
    const onData = ({ data }: { data: unknown }) => void (runId = (data as { runId: string }).runId);
    const second = chats.page({ id: first.chat.id, onData });
    const cancelled = second.say('Two');
    await expect.poll(() => runId).not.toBe('');
    await chats.api.done('POST', `/api/runs/${runId}/cancel`);
    await cancelled;
    held.resolve();
    await answered;
    await second.chat.regenerate();
    expect(second.shown).toEqual(['Second.']);
    expect(textsOf(model.requests[1]?.prompt ?? [])).toEqual(['One', 'Two']);
  });

  test('[S11] a message that never arrived is answered when the page requests another answer', async () => {
    const model = scriptedModel(['Here.']);
    const chats = await openChatWorld(await open({ models: { default: model } }));
    let isDown = true;
    const page = chats.page({
      fetch: async (input, init) => {
        if (isDown) throw new TypeError('fetch failed');
        return await chats.api.app.fetch(new Request(input, init));
      },
    });
    await page.say('Hello?');
    expect(page.chat.status).toBe('error');
    isDown = false;
    await page.chat.regenerate();
    expect(page.shown).toEqual(['Here.']);
    expect(textsOf(model.requests[0]?.prompt ?? [])).toEqual(['Hello?']);
  });

  test('a file of the page reaches the model', async () => {
    const model = scriptedModel(['A dot.']);
    const page = (await openChatWorld(await open({ models: { default: model } }))).page();
    await page.chat.sendMessage({
      text: 'What is it?',
      files: [{ type: 'file', mediaType: 'image/png', filename: 'dot.png', url: 'data:image/png;base64,iVBORw0KGgo=' }],
    });
    expect(page.shown).toEqual(['A dot.']);
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain('iVBORw0KGgo=');
  });
});
