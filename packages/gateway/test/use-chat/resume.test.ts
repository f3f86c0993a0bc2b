import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { isToolUIPart, lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { sweepStreams } from '../../src/domain/streams/sweep-streams.ts';
import { call } from '../chat/chat-api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { databases } from '../support/stores.ts';
import { openChatWorld } from './chat-world.ts';

const pay = tool({
  description: 'Pays.',
  inputSchema: z.object({ amount: z.number() }),
  approval: true,
  execute: ({ amount }) => `Paid ${amount}.`,
});

describeWorlds(
  'useChat: resume',
  (open) => {
    test('[S11] a page that is opened while the agent answers follows the answer from its start', async () => {
      const held = Promise.withResolvers<void>();
      const slow = tool({
        description: 'Waits.',
        inputSchema: z.object({}),
        execute: () => held.promise.then(() => 'ok'),
      });
      const model = scriptedModel([{ text: 'A moment.', calls: [call('slow')] }, 'Done.']);
      const chats = await openChatWorld(await open({ models: { default: model }, tools: { slow } }), {
        tools: ['slow'],
      });
      const first = chats.page();
      const asked = first.say('Go.');
      await expect.poll(() => first.shown).toEqual(['A moment.', ['slow', 'input-available']]);
      const second = chats.page({ id: first.chat.id, messages: structuredClone(first.chat.messages) });
      const resumed = second.chat.resumeStream();
      await expect.poll(() => second.shown).toEqual(['A moment.', ['slow', 'input-available']]);
      held.resolve();
      await Promise.all([asked, resumed]);
      expect(second.chat.messages).toEqual(first.chat.messages);
      expect(second.shown).toEqual(['A moment.', ['slow', 'output-available', 'ok'], 'Done.']);
    });

    test('[S11] a page that shows a turn of another endpoint shows its failed calls as errors', async () => {
      const fail = tool({
        description: 'Fails.',
        inputSchema: z.object({}),
        execute: () => {
          throw new Error('No money.');
        },
      });
      const model = scriptedModel(({ prompt }) => (prompt.at(-1)?.role === 'tool' ? 'It failed.' : call('fail')));
      const chats = await openChatWorld(await open({ models: { default: model }, tools: { fail } }), {
        tools: ['fail'],
      });
      const body = { agent: chats.agentId, message: 'Pay' };
      const { context_id: id } = await chats.api.done<{ context_id: string }>('POST', '/chat', body);
      const page = chats.page({ id });
      await page.chat.resumeStream();
      expect(page.shown).toEqual([['fail', 'output-error', expect.stringContaining('No money.')], 'It failed.']);
    });

    test('[S11] a page that shows a failed turn of another endpoint, or whose events are deleted, shows that it failed', async () => {
      const model = scriptedModel([new Error('The provider is closed.'), new Error('The provider is closed.')]);
      const world = await open({ models: { default: model } });
      const chats = await openChatWorld(world);
      const body = { agent: chats.agentId, message: 'Hi' };
      const { status, body: refusal } = await chats.api.call('POST', '/chat', { body });
      expect(status).toBe(502);
      const resumed = chats.page({ id: refusal.error.details.context_id });
      await resumed.chat.resumeStream();
      expect(resumed.chat.error?.message).toContain('The agent could not answer');
      const load = () => chats.page({ id: 'failed', generateId: () => 'the-message' });
      await load().say('Hi');
      await sweepStreams(world.services, { now: Date.now() + 100_000_000 });
      const again = load();
      await again.say('Hi');
      expect(again.chat.error?.message).toContain('The agent could not answer');
      expect(model.requests).toHaveLength(2);
    });

    test('[S11] a page whose connection broke resumes, also after the end, and has each part once', async () => {
      const held = Promise.withResolvers<void>();
      const slow = tool({
        description: 'Waits.',
        inputSchema: z.object({}),
        execute: () => held.promise.then(() => 'ok'),
      });
      const model = scriptedModel([{ text: 'A moment.', calls: [call('slow')] }, 'Done.']);
      const world = await open({ models: { default: model }, tools: { slow } });
      const chats = await openChatWorld(world, { tools: ['slow'] });
      const cut = new AbortController();
      const page = chats.page({
        fetch: async (input, init) => {
          const response = await chats.api.app.fetch(new Request(input, init));
          if (init?.method !== 'POST' || response.body === null) return response;
          return new Response(response.body.pipeThrough(breakable(cut.signal)), response);
        },
      });
      const asked = page.say('Go.');
      await expect.poll(() => page.shown).toEqual(['A moment.', ['slow', 'input-available']]);
      cut.abort(new TypeError('network error'));
      await asked;
      expect(page.chat.status).toBe('error');
      held.resolve();
      await world.idle();
      await page.chat.resumeStream();
      expect(page.chat.status).toBe('ready');
      expect(page.chat.messages).toHaveLength(2);
      expect(page.shown).toEqual(['A moment.', ['slow', 'output-available', 'ok'], 'Done.']);
      expect(model.requests).toHaveLength(2);
    });

    test('[S11] a page that is loaded again shows the call that waits, and after the answer the whole message', async () => {
      const model = scriptedModel([{ text: 'I pay.', calls: [call('pay', { amount: 5 })] }, 'It is paid.']);
      const chats = await openChatWorld(await open({ models: { default: model }, tools: { pay } }), { tools: ['pay'] });
      const first = chats.page();
      await first.say('Pay.');
      const [question] = first.chat.messages;
      const reload = () => chats.page({ id: first.chat.id, messages: question === undefined ? [] : [question] });
      const second = reload();
      await second.chat.resumeStream();
      expect(second.chat.messages).toEqual(first.chat.messages);
      await second.decide(true);
      const third = reload();
      await third.chat.resumeStream();
      expect(third.shown).toEqual(['I pay.', ['pay', 'output-available', 'Paid 5.'], 'It is paid.']);
      expect(third.chat.messages[1]?.id).toBe(first.chat.messages[1]?.id);
      expect(third.chat.messages[1]?.parts.find(isToolUIPart)?.approval).toMatchObject({ approved: true });
    });

    test('[S11] a tool of the page that was answered does not run again when the page is loaded again', async () => {
      const model = scriptedModel([[call('locate')], 'In Ulm.']);
      const chats = await openChatWorld(await open({ models: { default: model } }));
      const id = 'loaded-again';
      let runs = 0;
      const load = () => {
        const page = chats.page({
          id,
          body: { tools: { locate: {} } },
          sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
          onToolCall({ toolCall: { toolName, toolCallId } }) {
            runs += 1;
            if (runs > 1) void page.chat.addToolOutput({ tool: toolName, toolCallId, output: 'Ulm' });
          },
        });
        return page;
      };
      await load().say('Where am I?');
      expect(runs).toBe(1);
      // The first page left without an answer: the call waits, so the next page runs it.
      const second = load();
      await second.chat.resumeStream();
      await expect.poll(() => second.shown).toEqual([['locate', 'output-available', 'Ulm'], 'In Ulm.']);
      expect(runs).toBe(2);
      const third = load();
      await third.chat.resumeStream();
      expect(third.shown).toEqual([['locate', 'output-available', 'Ulm'], 'In Ulm.']);
      expect(runs).toBe(2);
      expect(third.requests).toHaveLength(1);
    });

    test('[S11] there is nothing to resume in an empty chat, or one that ended long ago, but a waiting call is shown', async () => {
      const model = scriptedModel([[call('pay', { amount: 5 })], 'It is paid.']);
      const world = await open({ models: { default: model }, tools: { pay } });
      const chats = await openChatWorld(world, { tools: ['pay'] });
      const { id } = await chats.api.done<{ id: string }>('POST', '/contexts', { agent: chats.agentId });
      for (const empty of [chats.page(), chats.page({ id })]) {
        await empty.chat.resumeStream();
        expect([empty.statuses, empty.chat.status]).toEqual([[204], 'ready']);
      }
      const page = chats.page();
      await page.say('Pay.');
      await sweepStreams(world.services, { now: Date.now() + 100_000_000 });
      // A call that waits is shown for as long as it waits.
      const reloaded = chats.page({ id: page.chat.id });
      await reloaded.chat.resumeStream();
      expect(reloaded.shown).toEqual([['pay', 'approval-requested']]);
      await reloaded.decide(true);
      expect(reloaded.shown).toEqual([['pay', 'output-available', 'Paid 5.'], 'It is paid.']);
      await sweepStreams(world.services, { now: Date.now() + 100_000_000 });
      await reloaded.chat.resumeStream();
      expect(reloaded.statuses).toEqual([200, 200, 204]);
    });

    test('[S11] a page opens a conversation that began with POST /chat, and answers the call that waits there', async () => {
      const model = scriptedModel([{ text: 'I pay.', calls: [call('pay', { amount: 5 })] }, 'It is paid.']);
      const chats = await openChatWorld(await open({ models: { default: model }, tools: { pay } }), { tools: ['pay'] });
      const sent = { agent: chats.agentId, message: 'Pay.' };
      const { context_id: id } = await chats.api.done<{ context_id: string }>('POST', '/chat', sent);
      const page = chats.page({ id });
      await page.chat.resumeStream();
      expect(page.shown).toEqual(['I pay.', ['pay', 'approval-requested']]);
      await page.decide(true);
      expect(page.shown).toEqual(['I pay.', ['pay', 'output-available', 'Paid 5.'], 'It is paid.']);
      const other = chats.page({ id });
      await other.chat.resumeStream();
      expect(other.shown).toEqual(['I pay.', ['pay', 'output-available', 'Paid 5.'], 'It is paid.']);
    });

    test('a message that is sent again after its events are deleted is answered from the stored transcript', async () => {
      const model = scriptedModel([{ text: 'I add.', calls: [call('add')] }, 'Done.']);
      const add = tool({ description: 'Adds.', inputSchema: z.object({}), execute: () => 3 });
      const world = await open({ models: { default: model }, tools: { add } });
      const chats = await openChatWorld(world, { tools: ['add'] });
      const page = chats.page({ id: 'stored', generateId: () => 'the-message' });
      await page.say('Add.');
      await sweepStreams(world.services, { now: Date.now() + 100_000_000 });
      const again = chats.page({ id: 'stored', generateId: () => 'the-message' });
      await again.say('Add.');
      expect(again.shown).toEqual(['I add.', ['add', 'output-available', 3], 'Done.']);
      expect(model.requests).toHaveLength(2);
    });

    test('[S11] a stream that the gateway ends before the answer is aborted, so that no page shows it as complete', async () => {
      const held = Promise.withResolvers<void>();
      const slow = tool({ description: 'Waits.', inputSchema: z.object({}), execute: () => held.promise });
      const model = scriptedModel([{ text: 'A moment.', calls: [call('slow')] }, 'Done.']);
      const chats = await openChatWorld(await open({ models: { default: model }, tools: { slow } }), {
        tools: ['slow'],
      });
      const cut = Promise.withResolvers<void>();
      const outgoing = { destroy: () => cut.resolve(), once: () => {} };
      const body = { id: 'stopping', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Go.' }] }] };
      const response = await chats.api.app.fetch(
        new Request(`http://gateway/api/agents/${chats.agentId}/chat`, {
          method: 'POST',
          headers: { authorization: `Bearer ${chats.api.key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
        { outgoing },
      );
      const reader = response.body?.getReader();
      await reader?.read();
      chats.api.app.stop();
      await cut.promise;
      held.resolve();
    });
  },
  databases,
);

/** Passes bytes on until the connection breaks. */
function breakable(signal: AbortSignal): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
  });
}
