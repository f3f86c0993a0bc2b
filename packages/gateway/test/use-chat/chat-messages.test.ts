import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { isToolUIPart, lastAssistantMessageIsCompleteWithToolCalls, type UIMessage, validateUIMessages } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { call } from '../chat/chat-api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { systemOf, textsOf } from '../support/requests.ts';
import { type ChatWorld, openChatWorld } from './chat-world.ts';

const anything = z.looseObject({});
const add = tool({
  description: 'Adds.',
  inputSchema: z.object({ n: z.number() }),
  execute: ({ n }) => ({ sum: n + 1 }),
});
const pay = tool({ description: 'Pays.', inputSchema: anything, approval: true, execute: () => 'Paid.' });
const fail = tool({
  description: 'Fails.',
  inputSchema: anything,
  execute: () => {
    throw new Error('No money.');
  },
});

/** The request of a page before it shows the chat. The AI SDK itself validates the response. */
async function toldMessages(chats: ChatWorld, chatId: string, query = ''): Promise<UIMessage[]> {
  const path = `/api/agents/${chats.agentId}/chat/${chatId}/messages${query}`;
  const messages = await chats.api.done<UIMessage[]>('GET', path);
  return messages.length === 0 ? [] : await validateUIMessages({ messages });
}

/** The parts that both the stream and the history have: ids of steps and progress are not stored. */
const partsOf = (messages: readonly UIMessage[]) =>
  messages.map(({ role, parts }) => [
    role,
    parts.map((part) =>
      Object.fromEntries(
        Object.entries(part).filter(([name]) => !['state', 'title'].includes(name) || 'toolCallId' in part),
      ),
    ),
  ]);

describeWorlds('useChat: the messages of a chat', (open) => {
  test('[S11] a page that is reloaded gets its earlier messages', async () => {
    const model = scriptedModel([
      { text: 'Let me see.', calls: [call('add', { n: 1 }), call('fail')] },
      'It is 2.',
      call('pay', { amount: 5 }),
      'Paid.',
      call('pay', { amount: 9 }),
      'Not paid.',
    ]);
    const world = await open({ models: { default: model }, tools: { add, fail, pay } });
    const chats = await openChatWorld(world, { tools: ['add', 'fail', 'pay'] });
    const page = chats.page();
    await page.say('Add.');
    await page.say('Pay 5.');
    await page.decide(true);
    await page.say('Pay 9.');
    await page.decide(false, 'Too much.');
    const history = await toldMessages(chats, page.chat.id);
    expect(partsOf(history)).toEqual(partsOf(page.chat.messages));
    const ofAgent = (messages: readonly UIMessage[]) =>
      messages.filter(({ role }) => role === 'assistant').map(({ id }) => id);
    expect(ofAgent(history)).toEqual(ofAgent(page.chat.messages));
  });

  test('[S11] a page that starts with the history continues it: it approves, sends messages, and requests another answer', async () => {
    const model = scriptedModel([call('pay'), 'It is paid.', 'Bye.', 'Good bye.', 'Edited.']);
    const chats = await openChatWorld(await open({ models: { default: model }, tools: { pay } }), { tools: ['pay'] });
    const first = chats.page();
    await first.say('Pay.');
    const { id } = first.chat;
    const second = chats.page({ id, messages: await toldMessages(chats, id) });
    expect(second.shown).toEqual([['pay', 'approval-requested']]);
    await second.decide(true);
    expect(second.shown).toEqual([['pay', 'output-available', 'Paid.'], 'It is paid.']);
    await second.say('Bye');
    const third = chats.page({ id, messages: await toldMessages(chats, id) });
    await third.chat.regenerate();
    expect(third.shown).toEqual(['Good bye.']);
    // The message was not stored a second time.
    expect(textsOf(model.requests.at(-1)?.prompt ?? []).filter((text) => text === 'Bye')).toHaveLength(1);
    const messageId = third.chat.messages.findLast(({ role }) => role === 'user')?.id ?? '';
    await third.chat.sendMessage({ text: 'Farewell', messageId });
    expect(systemOf(model.requests.at(-1) ?? { prompt: [] })).toContain('replaces an earlier message');
  });

  test('[S11] a call that was approved or denied after the next message is in it as it ended', async () => {
    const model = scriptedModel([
      { text: 'I pay.', calls: [call('pay', { amount: 5 }), call('pay', { amount: 9 })] },
      'It is sunny.',
      'It is paid.',
    ]);
    const chats = await openChatWorld(await open({ models: { default: model }, tools: { pay } }), { tools: ['pay'] });
    const page = chats.page();
    await page.say('Pay.');
    const [, asking] = page.chat.messages;
    await page.say('How is the weather?');
    for (const [index, part] of (asking?.parts ?? []).filter(isToolUIPart).entries())
      await page.chat.addToolApprovalResponse({ id: part.approval?.id ?? '', approved: index === 0 });
    await page.chat.sendMessage();
    const history = await toldMessages(chats, page.chat.id);
    const callsOf = (message: UIMessage | undefined) => message?.parts.filter(isToolUIPart);
    expect(callsOf(history[1])?.map(({ state }) => state)).toEqual(['output-available', 'output-denied']);
    expect(callsOf(history[1])).toEqual(callsOf(page.chat.messages[1]));
  });

  test('[S11] with resume, an answer that is being written, or waits, is shown once', async () => {
    const held = Promise.withResolvers<void>();
    const slow = tool({ description: 'Waits.', inputSchema: anything, execute: () => held.promise.then(() => 'ok') });
    const model = scriptedModel(['Hello.', { text: 'A moment.', calls: [call('slow')] }, 'Done.', call('pay')]);
    const chats = await openChatWorld(await open({ models: { default: model }, tools: { slow, pay } }), {
      tools: ['slow', 'pay'],
    });
    const first = chats.page();
    const { id } = first.chat;
    await first.say('Hi');
    const asked = first.say('Go.');
    await expect.poll(() => first.shown).toEqual(['A moment.', ['slow', 'input-available']]);
    const messages = await toldMessages(chats, id);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    const second = chats.page({ id, messages });
    const resumed = second.chat.resumeStream();
    await expect.poll(() => second.shown).toEqual(['A moment.', ['slow', 'input-available']]);
    held.resolve();
    await Promise.all([asked, resumed]);
    expect(second.shown).toEqual(['A moment.', ['slow', 'output-available', 'ok'], 'Done.']);
    await first.say('Pay.');
    const third = chats.page({ id, messages: await toldMessages(chats, id) });
    await third.chat.resumeStream();
    expect(third.shown).toEqual([['pay', 'approval-requested']]);
    expect(third.chat.messages).toHaveLength(6);
  });

  test('[S11] calls of the page are in it as such, and answered ones trigger no automatic post', async () => {
    const model = scriptedModel([call('locate'), 'You are in Ulm.']);
    const chats = await openChatWorld(await open({ models: { default: model } }));
    const page = chats.page({ body: { tools: { locate: { description: 'Where?' } } } });
    await page.say('Where am I?');
    const [, waiting] = await toldMessages(chats, page.chat.id);
    expect(waiting?.parts.at(-1)).toMatchObject({
      type: 'tool-locate',
      state: 'input-available',
      providerExecuted: false,
    });
    const toolCallId = page.chat.lastMessage?.parts.flatMap((part) =>
      'toolCallId' in part ? [part.toolCallId] : [],
    )[0];
    await page.chat.addToolOutput({ tool: 'locate', toolCallId: toolCallId ?? '', output: 'Ulm' });
    await page.chat.sendMessage();
    const messages = await toldMessages(chats, page.chat.id);
    expect(chats.page({ messages }).shown).toEqual([['locate', 'output-available', 'Ulm'], 'You are in Ulm.']);
    expect(lastAssistantMessageIsCompleteWithToolCalls({ messages })).toBe(false);
  });

  test('[S11] files of messages, terminal tools and messages of other endpoints are in it', async () => {
    const done = tool({ description: 'Ends.', inputSchema: anything, terminal: true, execute: () => 'All done.' });
    const model = scriptedModel(['A picture.', call('done'), 'Unsaved.']);
    const chats = await openChatWorld(await open({ models: { default: model }, tools: { done } }), { tools: ['done'] });
    const page = chats.page();
    const url = 'data:image/png;base64,aGk=';
    await page.chat.sendMessage({
      text: 'Look',
      files: [{ type: 'file', mediaType: 'image/png', url, filename: 'a.png' }],
    });
    await chats.api.done('POST', '/chat', { context_id: page.chat.id, message: 'End it' });
    await chats.api.done('POST', '/chat', { context_id: page.chat.id, message: 'Not saved', save: false });
    const history = await toldMessages(chats, page.chat.id);
    expect(partsOf(history)).toEqual([
      [
        'user',
        expect.arrayContaining([
          { type: 'file', mediaType: 'image/png', url, filename: 'a.png' },
          { type: 'text', text: 'Look' },
        ]),
      ],
      ['assistant', [{ type: 'step-start' }, { type: 'text', text: 'A picture.' }]],
      ['user', [{ type: 'text', text: 'End it' }]],
      [
        'assistant',
        [
          { type: 'step-start' },
          expect.objectContaining({ type: 'tool-done' }),
          { type: 'step-start' },
          { type: 'text', text: 'All done.' },
        ],
      ],
    ]);
  });

  test('[S11] it is paginated, and the chat of another person, or one without messages, is empty', async () => {
    const chats = await openChatWorld(await open({ models: { default: scriptedModel(() => 'Yes.') } }));
    const page = chats.page();
    for (const text of ['One', 'Two', 'Three']) await page.say(text);
    const said = (messages: readonly UIMessage[]) =>
      messages.flatMap(({ role, parts }) =>
        role === 'user' ? parts.flatMap((part) => ('text' in part ? [part.text] : [])) : [],
      );
    const newest = await toldMessages(chats, page.chat.id, '?limit=2');
    expect(said(newest)).toEqual(['Two', 'Three']);
    expect(said(await toldMessages(chats, page.chat.id, `?before=${newest[0]?.id}`))).toEqual(['One']);
    expect(await toldMessages(chats, 'unknown')).toEqual([]);
    const ada = await chats.api.person();
    await chats.api.space(ada, chats.agentId);
    const path = `/api/agents/${chats.agentId}/chat/${page.chat.id}/messages`;
    expect((await chats.api.call('GET', path, { secret: await chats.api.tokenOf(ada) })).body).toEqual([]);
  });
});
