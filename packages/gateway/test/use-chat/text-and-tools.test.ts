import { reply, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { call } from '../chat/chat-api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { textsOf } from '../support/requests.ts';
import { openChatWorld } from './chat-world.ts';

const add = tool({
  description: 'Adds two numbers.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }, { progress }) => {
    progress({ half: a });
    return a + b;
  },
});
const broken = tool({
  description: 'Breaks.',
  inputSchema: z.object({}),
  execute: () => {
    throw new Error('It broke.');
  },
});
const report = tool({
  description: 'Reports.',
  inputSchema: z.object({ text: z.string() }),
  terminal: true,
  execute: ({ text }) => `Report: ${text}`,
});
const two = tool({
  description: 'Says two things.',
  inputSchema: z.object({}),
  terminal: true,
  execute: () => reply({ user: 'For you.', model: 'For the model.' }),
});

describeWorlds('useChat: text and tools', (open) => {
  test('[S11] a message is answered with streamed text, and the next turn knows the conversation', async () => {
    const model = scriptedModel(['Hello, Ada.', 'You are Ada.']);
    const { page: openPage } = await openChatWorld(await open({ models: { default: model } }));
    const page = openPage();
    await page.say('I am Ada.');
    expect(page.chat.status).toBe('ready');
    expect(page.shown).toEqual(['Hello, Ada.']);
    await page.say('Who am I?');
    expect(page.shown).toEqual(['You are Ada.']);
    expect(page.chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(textsOf(model.requests[1]?.prompt ?? [])).toEqual(['I am Ada.', 'Who am I?']);
    expect(page.chunks.filter(({ type }) => type === 'finish')).toEqual([
      { type: 'finish', finishReason: 'stop' },
      { type: 'finish', finishReason: 'stop' },
    ]);
  });

  test('[S11] calls are shown with their input, progress and output or error, each in its step', async () => {
    const model = scriptedModel([{ text: 'I add.', calls: [call('add', { a: 1, b: 2 }), call('broken')] }, 'It is 3.']);
    const world = await open({ models: { default: model }, tools: { add, broken } });
    const page = (await openChatWorld(world, { tools: ['add', 'broken'] })).page();
    await page.say('Add.');
    expect(page.shown).toEqual([
      'I add.',
      ['add', 'output-available', 3],
      ['broken', 'output-error', 'It broke.'],
      'It is 3.',
    ]);
    const types = page.chat.messages.at(-1)?.parts.map(({ type }) => type);
    expect(types?.filter((type) => type === 'step-start')).toHaveLength(2);
    const part = page.chat.messages.at(-1)?.parts.find(({ type }) => type === 'tool-add');
    expect(part).toMatchObject({ input: { a: 1, b: 2 }, providerExecuted: true });
    const progress = page.chat.messages.at(-1)?.parts.find(({ type }) => type === 'data-tool-progress');
    expect(progress).toMatchObject({ data: { toolName: 'add', value: { half: 1 } } });
  });

  test.each([
    { tools: { report }, input: { text: 'done' }, text: 'Report: done' },
    { tools: { two }, input: {}, text: 'For you.' },
  ])('[S11] a terminal tool ends with its response as text, and the page does not post again: $text', async (given) => {
    const [name = ''] = Object.keys(given.tools);
    const model = scriptedModel([[call(name, given.input)]]);
    const world = await open({ models: { default: model }, tools: given.tools });
    const page = (await openChatWorld(world, { tools: [name] })).page({
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    });
    await page.say('Report.');
    expect(page.shown.at(-1)).toBe(given.text);
    expect(page.requests).toHaveLength(1);
    expect(model.requests).toHaveLength(1);
  });

  test('[S11] an answer that ends with a call, because its steps are used up, is not posted again either', async () => {
    const model = scriptedModel(() => [call('add', { a: 1, b: 2 })]);
    const world = await open({ models: { default: model }, tools: { add } });
    const page = (await openChatWorld(world, { tools: ['add'], limits: { maxSteps: 2 } })).page({
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    });
    await page.say('Add.');
    expect(page.shown).toEqual([
      ['add', 'output-available', 3],
      ['add', 'output-available', 3],
    ]);
    expect(page.chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'length' });
    expect(page.requests).toHaveLength(1);
    expect(model.requests).toHaveLength(2);
  });
});
