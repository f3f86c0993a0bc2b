import { scriptedModel } from '@lastcall/core/testing';
import { isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai';
import { expect, test } from 'vitest';
import { call } from '../chat/chat-api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { openChatWorld } from './chat-world.ts';
import { payTool } from './pay-tool.ts';

const onceDecided = { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses };

interface Pending {
  readonly agentId: string;
  readonly runId: string;
  readonly callId: string;
}

async function pendingOf({ api, agentId }: Awaited<ReturnType<typeof openChatWorld>>): Promise<readonly Pending[]> {
  const { items } = await api.done<{ items: Pending[] }>('GET', '/api/pending');
  return items.filter((one) => one.agentId === agentId);
}

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

  test.each(['another answer', 'an edit'])(
    '[S11] %s denies the approvals that the page no longer shows, so that what the model asks again is done once',
    async (how) => {
      const { paid, pay } = payTool();
      const model = scriptedModel([
        'Ready.',
        [call('pay', { amount: 5 })],
        [call('pay', { amount: 5 })],
        'It is paid.',
      ]);
      const world = await open({ models: { default: model }, tools: { pay } });
      const chats = await openChatWorld(world, { tools: ['pay'] });
      const page = chats.page();
      await page.say('Hello.');
      await page.say('Pay 5.');
      if (how === 'an edit')
        await page.chat.sendMessage({ text: 'Pay 5 now.', messageId: page.chat.messages[2]?.id ?? '' });
      else await page.chat.regenerate();
      expect(page.shown).toEqual([['pay', 'approval-requested']]);
      // The new turn is told, without a request of its own for that.
      expect(model.requests).toHaveLength(3);
      expect(JSON.stringify(model.requests[2]?.prompt)).toContain(
        how === 'an edit'
          ? 'The person changed their message instead.'
          : 'The person asked for another answer instead.',
      );
      expect(await pendingOf(chats)).toHaveLength(1);
      await page.decide(true);
      expect(page.shown.at(-1)).toBe('It is paid.');
      expect(paid).toEqual([5]);
    },
  );

  test('[S11] another answer to a later message leaves the approval that an earlier message waits for', async () => {
    const { paid, pay } = payTool();
    const model = scriptedModel([[call('pay', { amount: 5 })], 'Fine.', 'Very fine.']);
    const world = await open({ models: { default: model }, tools: { pay } });
    const chats = await openChatWorld(world, { tools: ['pay'] });
    const page = chats.page();
    await page.say('Pay 5.');
    await page.say('How are you?');
    await page.chat.regenerate();
    expect(page.shown.at(-1)).toBe('Very fine.');
    expect(await pendingOf(chats)).toHaveLength(1);
    expect(paid).toEqual([]);
  });

  test('[S11] another answer does not deny what other people have to approve', async () => {
    const { pay } = payTool();
    const model = scriptedModel([[call('pay', { amount: 5 })], 'I wait for your manager.']);
    const world = await open({
      models: { default: model },
      tools: { pay: { tool: pay, answerers: { roles: ['manager'] } } },
    });
    const chats = await openChatWorld(world, { tools: ['pay'] });
    const page = chats.page();
    await page.say('Pay 5.');
    await page.chat.regenerate();
    expect(page.shown).toEqual(['I wait for your manager.']);
    expect(await pendingOf(chats)).toHaveLength(1);
  });

  test('[S11] a reloaded page that resumes shows a call once that was approved after the next message', async () => {
    const { paid, pay } = payTool();
    const model = scriptedModel([[call('pay', { amount: 5 })], 'Fine.', 'It is paid.']);
    const world = await open({ models: { default: model }, tools: { pay } });
    const chats = await openChatWorld(world, { tools: ['pay'] });
    const page = chats.page();
    await page.say('Pay 5.');
    await page.say('How are you?');
    const [waiting] = await pendingOf(chats);
    const answer = { callId: waiting?.callId, approve: true };
    await chats.api.done('POST', `/api/runs/${waiting?.runId}/tool-results`, answer);
    await expect.poll(() => model.requests.length).toBe(3);
    const path = `/api/agents/${chats.agentId}/chat/${page.chat.id}/messages`;
    const shown = (messages: readonly UIMessage[]): number =>
      messages.flatMap(({ parts }) => parts).filter(isToolUIPart).length;
    const stored = async (): Promise<UIMessage[]> => await chats.api.done('GET', path);
    await expect.poll(async () => JSON.stringify(await stored())).toContain('It is paid.');
    const reloaded = chats.page({ id: page.chat.id, messages: await stored() });
    await reloaded.chat.resumeStream();
    expect(reloaded.shown).toEqual(['It is paid.']);
    expect([shown(reloaded.chat.messages), paid]).toEqual([1, [5]]);
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
