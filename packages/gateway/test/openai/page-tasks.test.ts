import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeOpenAi } from './openai-gateway.ts';

const user = (content: string) => ({ role: 'user' as const, content });

const pay = tool({ description: 'Pays.', inputSchema: z.object({}), execute: () => 'paid' });
const look = tool({ description: 'Looks.', inputSchema: z.object({}), effects: 'none', execute: () => 'seen' });

/** As the pages send them, shortened in the middle. */
const TASKS = [
  '### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n### Guidelines:\n- Be brief.\n### Output:\nJSON format: { "title": "your concise title here" }\n### Chat History:\n<chat_history>\nUSER: Pay.\n</chat_history>',
  '### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history.\n### Chat History:\n<chat_history>\nUSER: Pay.\n</chat_history>',
  '### Task:\nSuggest 3-5 relevant follow-up questions or prompts.\n### Chat History:\n<chat_history>\nUSER: Pay.\n</chat_history>',
  'Provide a concise, 5-word-or-less title for the conversation, using its same language, with no punctuation.\n\nConversation:\nUser: Pay.',
];

describeOpenAi('requests of chat pages', (open) => {
  test('[S11] a title, tags and follow-ups are asked for without tools that have effects, and nothing of it is stored', async () => {
    const model = scriptedModel(() => 'A Payment');
    const { client, world } = await open({ models: { default: model }, tools: { pay, look } });
    const agent = await world.agent('Payer', { tools: ['pay', 'look'] });
    const offered = () => model.requests.at(-1)?.tools?.map(({ name }) => name);
    await client.chat.completions.create({ model: agent, messages: [user('Pay.')] });
    expect(offered()).toContain('pay');
    for (const task of TASKS) {
      const { choices } = await client.chat.completions.create({ model: agent, messages: [user(task)] });
      expect(choices[0]?.message.content).toBe('A Payment');
      expect(offered()).not.toContain('pay');
      expect(offered()).toContain('look');
    }
    const stored = await world.store.db.selectFrom('transcript_entries').select('payload').execute();
    expect(stored.filter(({ payload }) => payload.includes('chat_history'))).toEqual([]);
  });

  test('a task that somebody writes in the same style is a message like any other', async () => {
    const model = scriptedModel(() => 'Paid.');
    const { client, world } = await open({ models: { default: model }, tools: { pay } });
    const agent = await world.agent('Payer', { tools: ['pay'] });
    const task = '### Task:\nPay the invoice.\n### Output:\nThe number of the payment.';
    await client.chat.completions.create({ model: agent, messages: [user(task)] });
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toContain('pay');
  });

  test('a program says with a header that a request must have no effects', async () => {
    const model = scriptedModel(() => 'Nothing was paid.');
    const { client, world } = await open({ models: { default: model }, tools: { pay } });
    const agent = await world.agent('Payer', { tools: ['pay'] });
    await client.chat.completions.create(
      { model: agent, messages: [user('Pay.')] },
      { headers: { 'X-Lastcall-Effects': 'none' } },
    );
    expect(model.requests[0]?.tools?.map(({ name }) => name) ?? []).not.toContain('pay');
  });
});
