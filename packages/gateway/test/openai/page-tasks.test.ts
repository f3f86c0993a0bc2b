import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { isPageTask } from '../../src/transport/page-task.ts';
import { describeOpenAi } from './openai-gateway.ts';

const user = (content: string) => ({ role: 'user' as const, content });
const system = (content: string) => ({ role: 'system' as const, content });

const pay = tool({ description: 'Pays.', inputSchema: z.object({}), execute: () => 'paid' });
const look = tool({ description: 'Looks.', inputSchema: z.object({}), effects: 'none', execute: () => 'seen' });

const HISTORY =
  '### Chat PastTranscript:\n<chat_history>\nUSER: Pay it and send me a note.\nASSISTANT: Done.\n</chat_history>';
const CHOICE =
  'Available Tools: [{"name": "weather", "parameters": {}}]\n\nYour task is to choose and return the correct tool(s) for the query.\n- Return only the JSON object.';

/** In the format of Open WebUI, with other words. */
const OPEN_WEBUI = {
  title: `### Task:\nGenerate a short title with an emoji for the chat.\n### Output:\nJSON: { "title": "…" }\n${HISTORY}`,
  tags: `### Task:\nGenerate 1-3 tags for the themes of the chat.\n${HISTORY}`,
  'follow-ups': `### Task:\nSuggest 3 follow-up questions that the user might ask.\n${HISTORY}`,
  queries: `### Task:\nAnalyze the chat history to see if generating search queries is needed.\n### Guidelines:\n- JSON alone.\n${HISTORY}\n`,
  'image prompt': `### Task:\nGenerate a detailed prompt for an image generation task from the conversation.\n${HISTORY}`,
  autocomplete:
    '### Task:\nYou are an autocompletion system. Continue the text in `<text>`.\n### Context:\n<conversation>\nUSER: Pay.\n</context>\n<type>General</type>\n<text>Pay the</text>\n#### Output:\n',
  emoji: 'Your task is to reflect the mood of the speaker with a fitting emoji.\n\nMessage: """Pay it and send it."""',
  merge:
    'You have been provided with a set of responses from various models to the query: "Pay it and send it."\n\nYour task is to synthesize them.\n\nResponses from models: Paid.',
};

const LIBRECHAT = {
  completion:
    'Provide a concise, 5-word-or-less title for the conversation, in title case. Only return the title itself.\n\nConversation:\nUser: Look it up and pay it.\nAI: Done.',
  structured:
    'Analyze this conversation and provide:\n1. The language of the conversation\n2. A concise title in that language (5 words or less)\n\nUser: Pay it.\nAI: Done.',
  assistants:
    'Please generate a concise title (max 40 characters) for a conversation that starts with:\nUser: Pay.\nTitle:',
};

/** With words of operators and other pages. */
const OTHERS = {
  'follow-ups in one sentence': 'Based on the chat history, generate 3 follow-up questions as JSON.\nUser: a',
  'a title in another language': `### Aufgabe:\nErstelle einen Titel. JSON format\n${HISTORY}`,
  'a title of the previous query':
    'Create a concise, 3-5 word phrase with an emoji as a title for the previous query. RESPOND ONLY WITH THE TITLE TEXT.\n\nPrompt: Pay it and send it.',
};

/** As a system text, with the conversation as the message. */
const SYSTEM_TASKS = {
  'choice of tools': CHOICE,
  title: 'Generate a short title (four words or less) for the session below.',
  summarizer:
    'You are a conversation summarizer. Generate a concise title for the conversation.\n- Output only the title.',
};

/** Real messages of people and programs in the same style. */
const MEANT: Readonly<Record<string, { readonly instructions?: string; readonly text: string }>> = {
  'a title to choose, and something to do': { text: 'Choose a title for my invoice and pay it.' },
  'a task with headings': { text: '### Task:\nPay the invoice.\n### Output:\nThe number of the payment.' },
  'a title of a quoted chat, and something to do': {
    text: 'Write a concise title for this chat and email it to Bob:\nUser: Hi\nAssistant: Hello',
  },
  'a question with retrieved context': {
    text: '### Task:\nRespond to the user query with the conversation, with citations.\n<conversation>\n<source id="1">Invoices</source>\n</context>\n\nPay the second invoice.',
  },
  'a quoted chat, and something to do': { text: 'Pay what was agreed here:\nUser: 5 euros?\nAssistant: Yes, 5 euros.' },
  'tags as the matter': { text: 'Generate tags for my photos and upload them. Return only the links.' },
  'voice mode': {
    instructions:
      'You are a friendly, concise voice assistant.\n\nKeep responses short. Give the quickest answer first.',
    text: 'Pay it.',
  },
  'an operator who lists what the agent can do': {
    instructions: 'You pay invoices. Available tools: pay, look. Choose the right tool for each request, and call it.',
    text: 'Pay it.',
  },
  'a writing agent with tools': {
    instructions: 'Write a concise title and tags for each post, then publish it with the tool.',
    text: 'User: Pay it.',
  },
  'an agent that suggests what to ask next': {
    instructions: 'You are a clerk. Suggest follow-up questions after each answer. Only respond in English.',
    text: 'Pay it.',
  },
  'a ticket with tags': {
    text: 'Create a Jira ticket titled "x" with tags a,b; at most 3 tags. The bug report:\n"""\nfoo\n"""',
  },
  'a ticket about a quoted chat': {
    text: 'Create a ticket with a title and tags for this conversation, at most 3 tags.\nUser: It hangs.',
  },
  'tags to create elsewhere': { text: 'Create the tags below in our CMS, no more than 5, please.\n"""\na,b\n"""' },
  'a report to mail': { text: '### Task: create the query report for Q3 and mail it\nUser: x' },
  'a title to mail': { text: `### Task:\nCreate a title for the chat and mail it.\n${HISTORY}` },
  'a title deed': { text: 'Provide the customer with the title deed, max 2 pages.\nUser: bob' },
  'a query of a table': { text: 'Write a query for the messages table, at most 10 rows.\nUser: bob' },
  'an agent that writes queries': {
    instructions: 'You are a support bot. Write queries to the CRM with max 10 rows.',
    text: 'hello',
  },
  'an agent that gives titles': {
    instructions: 'You are a clerk. Create a concise title for the conversation in the CRM.',
    text: 'hello',
  },
};

test.each(Object.entries({ ...OPEN_WEBUI, ...LIBRECHAT, ...OTHERS }))(
  '[X25] a request for %s that quotes the conversation is a task of the page, with or without a system text of the person',
  (_what, text) => {
    const message = [{ type: 'text' as const, text }];
    expect(isPageTask({ message })).toBe(true);
    expect(isPageTask({ instructions: 'Call me Al. Use the tools and pay what I ask for.', message })).toBe(true);
  },
);

test.each(Object.entries(MEANT))('[X25] %s is an ordinary message', (_what, { instructions = '', text }) => {
  expect(isPageTask({ instructions, message: [{ type: 'text', text }] })).toBe(false);
});

test('[X25] a message with a second part is not a task of the page, unless its first part is about the conversation', () => {
  const parts = (...texts: string[]) => texts.map((text) => ({ type: 'text' as const, text }));
  expect(isPageTask({ message: parts('Write a query with at most 10 rows against prod', 'Thanks.') })).toBe(false);
  expect(isPageTask({ message: parts('Write a concise title for this conversation.', 'Pay it.') })).toBe(true);
});

describeOpenAi('requests of chat pages', (open) => {
  test('[X25] [S11] tasks of pages run no tool with effects and store nothing, at both endpoints of /v1', async () => {
    // The model calls the offered tools, as real models do when a page requests a choice of tools.
    const model = scriptedModel(({ tools = [], prompt }) => {
      const isFirst = prompt.every(({ role }) => role !== 'assistant');
      const offered = tools.flatMap(({ name }) =>
        ['pay', 'look'].includes(name) ? [{ toolName: name, input: {} }] : [],
      );
      return isFirst && offered.length > 0 ? offered : 'A Payment';
    });
    let paid = 0;
    const counted = tool({ description: 'Pays.', inputSchema: z.object({}), execute: () => `paid ${++paid}` });
    const { client, world } = await open({ models: { default: model }, tools: { pay: counted, look } });
    const agent = await world.agent('Payer', { tools: ['pay', 'look'] });
    const query = 'Query: PastTranscript:\nUSER: """Pay"""\nQuery: Pay';
    const requests = [
      ...Object.values({ ...OPEN_WEBUI, ...LIBRECHAT }).map((text) => [user(text)]),
      ...Object.values(SYSTEM_TASKS).map((text) => [system(text), user(query)]),
    ];
    for (const messages of requests) {
      const { choices } = await client.chat.completions.create({ model: agent, messages });
      expect(choices[0]?.message.content).toContain('A Payment');
    }
    await client.responses.create({ model: agent, instructions: CHOICE, input: query });
    await client.responses.create({ model: agent, input: [user(OPEN_WEBUI.title)] });
    expect(paid).toBe(0);
    expect(await world.store.db.selectFrom('transcript_entries').select('payload').execute()).toEqual([]);
    await client.chat.completions.create({ model: agent, messages: [user('Pay.')] });
    expect(paid).toBe(1);
  });

  test('[X25] a conversation that the page has begun keeps the tools, whatever its messages request', async () => {
    const model = scriptedModel(() => 'Paid.');
    const { client, world } = await open({ models: { default: model }, tools: { pay } });
    const agent = await world.agent('Payer', { tools: ['pay'] });
    const offered = () => model.requests.at(-1)?.tools?.map(({ name }) => name);
    for (const { instructions, text } of Object.values(MEANT)) {
      const own = instructions === undefined ? [] : [system(instructions)];
      await client.chat.completions.create({ model: agent, messages: [...own, user(text)] });
      expect(offered()).toContain('pay');
    }
    const reply = { role: 'assistant' as const, content: 'Hello.' };
    await client.chat.completions.create({ model: agent, messages: [user('Hi'), reply, user(OPEN_WEBUI.title)] });
    expect(offered()).toContain('pay');
    const { id } = await client.responses.create({ model: agent, input: 'Hi' });
    await client.responses.create({ model: agent, input: OPEN_WEBUI.title, previous_response_id: id });
    expect(offered()).toContain('pay');
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
