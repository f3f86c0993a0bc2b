import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { isToolUIPart, lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { call } from '../chat/chat-api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { openChatWorld } from './chat-world.ts';

const clock = tool({ description: 'Tells the time.', inputSchema: z.object({}), execute: () => '12:00' });

const locate = {
  description: 'Tells where the person is.',
  inputSchema: { type: 'object', properties: { exact: { type: 'boolean' } } },
};

/** A configured tool: its calls wait for an answer. */
const askColour = {
  name: 'ask_colour',
  description: 'Asks for a colour.',
  executionType: 'space',
  inputSchema: { type: 'object', properties: { of: { type: 'string' } } },
};

describeWorlds('useChat: tools of the page', (open) => {
  test('[S11] the page runs its own tool, and its output continues the turn without a second post', async () => {
    const model = scriptedModel([[call('clock'), call('locate', { exact: true })], 'Noon in Ulm.']);
    const world = await open({ models: { default: model }, tools: { clock } });
    const chats = await openChatWorld(world, { tools: ['clock'] });
    const ran: unknown[] = [];
    const page = chats.page({
      body: { tools: { locate } },
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall({ toolCall }) {
        ran.push([toolCall.toolName, toolCall.input]);
        void page.chat.addToolOutput({ tool: toolCall.toolName, toolCallId: toolCall.toolCallId, output: 'Ulm' });
      },
    });
    await page.say('Where and when am I?');
    await expect.poll(() => page.shown.at(-1)).toBe('Noon in Ulm.');
    expect(page.shown).toEqual([
      ['clock', 'output-available', '12:00'],
      ['locate', 'output-available', 'Ulm'],
      'Noon in Ulm.',
    ]);
    await expect.poll(() => page.chat.status).toBe('ready');
    expect(ran).toEqual([['locate', { exact: true }]]);
    expect(page.requests).toHaveLength(2);
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toContain('locate');
  });

  test('[S11] the model reads an error of the page', async () => {
    const model = scriptedModel([[call('locate')], 'You did not allow it.']);
    const chats = await openChatWorld(await open({ models: { default: model } }));
    const page = chats.page({ body: { tools: { locate } } });
    await page.say('Where am I?');
    const part = page.chat.messages.at(-1)?.parts.find(isToolUIPart);
    await page.chat.addToolOutput({
      tool: 'locate',
      toolCallId: part?.toolCallId ?? '',
      state: 'output-error',
      errorText: 'The person said no.',
    });
    await page.chat.sendMessage();
    expect(page.shown).toEqual([['locate', 'output-error', 'The person said no.'], 'You did not allow it.']);
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('The person said no.');
  });

  test('[S11] a configured tool that waits for people is answered by the page too', async () => {
    const model = scriptedModel([[call('ask_colour', { of: 'the door' })], 'Green it is.']);
    const chats = await openChatWorld(await open({ models: { default: model } }), { tools: [askColour] });
    const page = chats.page();
    await page.say('Paint.');
    const part = page.chat.messages.at(-1)?.parts.find(isToolUIPart);
    expect(part).toMatchObject({ state: 'input-available', providerExecuted: false, input: { of: 'the door' } });
    await page.chat.addToolOutput({ tool: 'ask_colour', toolCallId: part?.toolCallId ?? '', output: 'green' });
    await page.chat.sendMessage();
    expect(page.shown).toEqual([['ask_colour', 'output-available', 'green'], 'Green it is.']);
  });

  test('[S11] of two tabs whose tools give different outputs the first counts, and both show it', async () => {
    const model = scriptedModel([[call('locate')], 'Ulm, then.']);
    const chats = await openChatWorld(await open({ models: { default: model } }));
    const options = { id: 'tabs-of-tools', body: { tools: { locate } } };
    const first = chats.page(options);
    await first.say('Where am I?');
    const second = chats.page({ ...options, messages: structuredClone(first.chat.messages) });
    const toolCallId = first.chat.messages.at(-1)?.parts.find(isToolUIPart)?.toolCallId ?? '';
    for (const [page, output] of [
      [first, 'Ulm'],
      [second, 'Bonn'],
    ] as const) {
      await page.chat.addToolOutput({ tool: 'locate', toolCallId, output });
      await page.chat.sendMessage();
      expect(page.shown).toEqual([['locate', 'output-available', 'Ulm'], 'Ulm, then.']);
    }
    expect(model.requests).toHaveLength(2);
  });

  test('a tool of the page with the name of a tool of the agent is refused with a hint', async () => {
    const model = scriptedModel([]);
    const chats = await openChatWorld(await open({ models: { default: model }, tools: { clock } }), {
      tools: ['clock'],
    });
    const page = chats.page({ body: { tools: { clock: {} } } });
    await page.say('Hi');
    expect(page.chat.error?.message).toContain('must not be "clock": the agent has a tool of that name.');
    expect(model.requests).toHaveLength(0);
  });
});
