import { scriptedModel } from '@lastcall/core/testing';
import { isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { expect, test } from 'vitest';
import { call } from '../chat/chat-api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { openChatWorld } from './chat-world.ts';
import { payTool } from './pay-tool.ts';

const onceDecided = { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses };

describeWorlds('useChat: approvals', (open) => {
  test('[S11] an approved call runs once, and the message continues with its id', async () => {
    const { paid, pay } = payTool();
    const model = scriptedModel([{ text: 'I pay.', calls: [call('pay', { amount: 5 })] }, 'It is paid.']);
    const world = await open({ models: { default: model }, tools: { pay } });
    const page = (await openChatWorld(world, { tools: ['pay'] })).page();
    await page.say('Pay 5.');
    expect(page.shown).toEqual(['I pay.', ['pay', 'approval-requested']]);
    expect(page.chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'tool-calls' });
    expect(paid).toEqual([]);
    await page.decide(true);
    expect(page.shown).toEqual(['I pay.', ['pay', 'output-available', 'Paid 5.'], 'It is paid.']);
    expect(page.chat.messages).toHaveLength(2);
    expect(paid).toEqual([5]);
  });

  test('[S11] a page that posts automatically once all calls are decided posts once, and not after the answer', async () => {
    const { paid, pay } = payTool();
    const model = scriptedModel([[call('pay', { amount: 1 }), call('pay', { amount: 2 })], 'Both.']);
    const world = await open({ models: { default: model }, tools: { pay } });
    const page = (await openChatWorld(world, { tools: ['pay'] })).page(onceDecided);
    await page.say('Pay 1 and 2.');
    await page.mark(true);
    await expect.poll(() => page.shown.at(-1)).toBe('Both.');
    await expect.poll(() => page.chat.status).toBe('ready');
    expect(paid).toEqual([1, 2]);
    expect(page.requests).toHaveLength(2);
  });

  test('[S11] a denied call does not run, and the model reads the reason', async () => {
    const { paid, pay } = payTool();
    const model = scriptedModel([[call('pay', { amount: 5 })], 'I leave it.']);
    const world = await open({ models: { default: model }, tools: { pay } });
    const page = (await openChatWorld(world, { tools: ['pay'] })).page();
    await page.say('Pay 5.');
    await page.decide(false, 'Too much.');
    expect(page.shown).toEqual([['pay', 'output-denied'], 'I leave it.']);
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('Too much.');
    expect(paid).toEqual([]);
  });

  test('[S11] of two tabs that decide differently the first counts, and the second shows what happened', async () => {
    const { paid, pay } = payTool();
    const model = scriptedModel([[call('pay', { amount: 5 })], 'It is paid.']);
    const world = await open({ models: { default: model }, tools: { pay } });
    const chats = await openChatWorld(world, { tools: ['pay'] });
    const first = chats.page({ id: 'two-tabs' });
    await first.say('Pay 5.');
    const second = chats.page({ id: 'two-tabs', messages: structuredClone(first.chat.messages) });
    await first.decide(true);
    await second.decide(false, 'No!');
    const shown = [['pay', 'output-available', 'Paid 5.'], 'It is paid.'];
    expect(first.shown).toEqual(shown);
    expect(second.shown).toEqual(shown);
    const part = second.chat.messages.at(-1)?.parts.find(isToolUIPart);
    expect(part?.approval).toMatchObject({ approved: true });
    expect(paid).toEqual([5]);
    expect(model.requests).toHaveLength(2);
  });

  test('[S11] two tabs that decide at the same moment run the call at most once, and agree', async () => {
    const { paid, pay } = payTool();
    const model = scriptedModel([[call('pay', { amount: 5 })], 'Done.']);
    const world = await open({ models: { default: model }, tools: { pay } });
    const chats = await openChatWorld(world, { tools: ['pay'] });
    const first = chats.page({ id: 'at-once' });
    await first.say('Pay 5.');
    const second = chats.page({ id: 'at-once', messages: structuredClone(first.chat.messages) });
    await Promise.all([first.decide(true), second.decide(false)]);
    expect(first.shown).toEqual(second.shown);
    expect(first.shown.at(-1)).toBe('Done.');
    expect(first.shown[0]).toEqual(
      paid.length === 1 ? ['pay', 'output-available', 'Paid 5.'] : ['pay', 'output-denied'],
    );
    expect(model.requests).toHaveLength(2);
  });

  test('[S11] a call that another person answered over HTTP, with another input, is shown as it ran', async () => {
    const { paid, pay } = payTool();
    const model = scriptedModel([[call('pay', { amount: 5 })], 'It is paid.']);
    const world = await open({ models: { default: model }, tools: { pay } });
    const chats = await openChatWorld(world, { tools: ['pay'] });
    const page = chats.page();
    await page.say('Pay 5.');
    const { items } = await chats.api.done<{ items: { callId: string; runId: string }[] }>('GET', '/api/pending');
    const mine = items.find(({ callId }) => JSON.stringify(page.chat.messages).includes(callId));
    await chats.api.done('POST', `/api/runs/${mine?.runId}/tool-results`, {
      callId: mine?.callId,
      approve: true,
      input: { amount: 3 },
    });
    await page.decide(false, 'No!');
    expect(page.shown).toEqual([['pay', 'output-available', 'Paid 3.'], 'It is paid.']);
    expect(page.chat.messages.at(-1)?.parts.find(isToolUIPart)).toMatchObject({ input: { amount: 3 } });
    expect(paid).toEqual([3]);
  });

  test('[S11] of several calls, some decided elsewhere and some here, all are shown as they ended', async () => {
    const { paid, pay } = payTool();
    const model = scriptedModel([[call('pay', { amount: 1 }), call('pay', { amount: 2 })], 'Done.']);
    const world = await open({ models: { default: model }, tools: { pay } });
    const chats = await openChatWorld(world, { tools: ['pay'] });
    const page = chats.page();
    await page.say('Pay 1 and 2.');
    const [one] = (page.chat.messages.at(-1)?.parts ?? []).filter(isToolUIPart);
    const { items } = await chats.api.done<{ items: { callId: string; runId: string }[] }>('GET', '/api/pending');
    const runId = items.find(({ callId }) => callId === one?.toolCallId)?.runId;
    await chats.api.done('POST', `/api/runs/${runId}/tool-results`, { callId: one?.toolCallId, deny: 'Not this.' });
    await page.decide(true);
    expect(page.shown).toEqual([['pay', 'output-denied'], ['pay', 'output-available', 'Paid 2.'], 'Done.']);
    expect(paid).toEqual([2]);
  });
});
