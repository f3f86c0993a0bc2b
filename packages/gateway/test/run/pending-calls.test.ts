import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { updateAgent } from '../../src/domain/agents/update-agent.ts';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { nameOfCall } from '../../src/domain/calls/call-number.ts';
import { expireDue } from '../../src/domain/calls/expire-due.ts';
import { redrive } from '../../src/domain/inbox/redrive.ts';
import { runStream } from '../../src/domain/streams/stream-names.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { inboxOf, resultsOf, textsOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import { waitingOf } from '../support/waiting-of.ts';
import type { World } from '../support/world.ts';

const confirm = {
  executionType: 'space',
  resultSchema: { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] },
} as const;

/** Asks once, in its first run. */
const asking = (toolName: string, input: object = {}) =>
  scriptedModel((request) => (resultsOf(request).length === 0 ? { toolName, input } : 'I wait.'));

const callStatus = async (world: World, callId: string) =>
  await world.store.db
    .selectFrom('calls')
    .select(['status', 'outcome'])
    .where('id', '=', callId)
    .executeTakeFirstOrThrow();

const cardStatus = async (world: World, callId: string) =>
  (await world.store.db.selectFrom('messages').select('status').where('call_id', '=', callId).executeTakeFirst())
    ?.status;

describeWorlds(
  'a waiting call',
  (open) => {
    test('[G28] a waiting call waits with a card while the run goes on; the model knows at once, by the id that answers use', async () => {
      const model = asking('confirm');
      const world = await open({ models: { default: model }, tools: { confirm } });
      const { ada, bot, space } = await lobby(world, { tools: ['confirm'] }, { isIn: true });
      await world.say(space, ada, 'Ask me');
      await world.idle();
      const { callId } = await waitingOf(world, bot);
      expect(resultsOf(model.requests[1] as never)[0]?.text).toMatch(/^Pending as call 1\. .*when this was written/);
      expect(JSON.parse((await callStatus(world, callId)).outcome ?? '{}').text).toContain(
        `{"status":"pending","pendingToolCallId":"${callId}"`,
      );
      expect(await cardStatus(world, callId)).toBe('requires_action');
      expect(await callStatus(world, callId)).toMatchObject({ status: 'pending' });
    });

    test('[G34] its answer is an event with call, tool, input and result, and the provisional result stays unchanged', async () => {
      const model = asking('confirm', { what: 'hotel' });
      const world = await open({
        models: { default: model },
        tools: { confirm: { ...confirm, inputSchema: { type: 'object', properties: { what: { type: 'string' } } } } },
      });
      const { ada, bot, space } = await lobby(world, { tools: ['confirm'] }, { isIn: true });
      await world.say(space, ada, 'Ask me');
      await world.idle();
      const { callId, runId } = await waitingOf(world, bot);
      await answer(world.services, { runId, callId, answer: { result: { yes: true } }, by: { entityId: ada } });
      await world.idle();
      const request = model.requests[2] as never;
      expect(inboxOf(request)[0]?.data).toMatchObject({
        callId: nameOfCall(callId),
        toolName: 'confirm',
        input: { what: 'hotel' },
        outcome: { status: 'ok', value: { yes: true } },
        resolvedBy: { name: 'Ada' },
      });
      expect(resultsOf(request)[0]?.text).toMatch(/^Pending as call 1\./);
      expect(await callStatus(world, callId)).toMatchObject({ status: 'settled' });
      expect(await cardStatus(world, callId)).toBe('complete');
    });

    test('[G34] an answer settles its call once, also if the run that takes it fails and is tried again', async () => {
      const model = scriptedModel((_request, invocation) => {
        if (invocation === 1) return { toolName: 'confirm', input: {} };
        return invocation === 3 ? new Error('overloaded') : 'Done.';
      });
      const world = await open({ models: { default: model }, tools: { confirm } });
      const { ada, bot, space } = await lobby(world, { tools: ['confirm'] }, { isIn: true });
      await world.say(space, ada, 'Ask me');
      await world.idle();
      const { callId, runId } = await waitingOf(world, bot);
      await answer(world.services, { runId, callId, answer: { result: { yes: true } }, by: { entityId: ada } });
      await world.idle();
      expect(model.requests).toHaveLength(4);
      const settled = world.store.db.selectFrom('transcript_entries').select('payload').where('kind', '=', 'settled');
      expect(await settled.where('thread_id', '=', bot).execute()).toHaveLength(1);
      const ends = (await world.events(runStream(runId))).filter(({ type }) => type === 'tool-call.complete');
      expect(ends).toHaveLength(1);
    });

    test('[G32] a waiting call that expires causes one event, its card ends too, and the call is settled as expired', async () => {
      const model = asking('confirm');
      const world = await open({ models: { default: model }, tools: { confirm: { ...confirm, expiresInMs: 60_000 } } });
      const { ada, bot, space } = await lobby(world, { tools: ['confirm'] }, { isIn: true });
      await world.say(space, ada, 'Ask me');
      await world.idle();
      const { callId } = await waitingOf(world, bot);
      expect(await expireDue(world.services, { now: Date.now() + 61_000 })).toBe(1);
      await world.idle();
      expect(inboxOf(model.requests[2] as never)).toMatchObject([
        { type: 'tool_result', data: { callId: nameOfCall(callId), outcome: { status: 'expired' } } },
      ]);
      expect(JSON.parse((await callStatus(world, callId)).outcome ?? '{}')).toMatchObject({
        status: 'error',
        code: 'expired',
      });
      expect(await cardStatus(world, callId)).toBe('expired');
      expect(await expireDue(world.services, { now: Date.now() + 120_000 })).toBe(0);
      await world.idle();
      expect(model.requests).toHaveLength(3);
    });

    test('[G35] a waiting call is still answerable after the configuration changed', async () => {
      const model = asking('confirm');
      const world = await open({ models: { default: model }, tools: { confirm } });
      const { ada, bot, space } = await lobby(world, { tools: ['confirm'] }, { isIn: true });
      await world.say(space, ada, 'Ask me');
      await world.idle();
      const { callId, runId } = await waitingOf(world, bot);
      await world.store.transaction((tx) => updateAgent(tx, { agentId: bot, config: { tools: [] } }));
      await answer(world.services, { runId, callId, answer: { result: { yes: false } }, by: { entityId: ada } });
      await world.idle();
      expect(inboxOf(model.requests[2] as never)[0]?.data.outcome).toEqual({ status: 'ok', value: { yes: false } });
    });

    const pay = (paid: unknown[]) => ({
      tool: tool({
        description: 'Pays.',
        inputSchema: z.object({ amount: z.number().max(100) }),
        approval: true,
        execute: (input) => {
          paid.push(input);
          return `paid ${input.amount}`;
        },
      }),
    });

    test('[G36] a waiting call that needs approval runs once, in a run, when it is approved, and the model sees decision and result', async () => {
      const paid: unknown[] = [];
      const model = asking('pay', { amount: 5 });
      const world = await open({ models: { default: model }, tools: { pay: pay(paid) } });
      const { ada, bot, space } = await lobby(world, { tools: ['pay'] }, { isIn: true });
      await world.say(space, ada, 'Pay');
      await world.idle();
      const { callId, runId } = await waitingOf(world, bot);
      expect(paid).toEqual([]);
      await answer(world.services, { runId, callId, answer: { approve: true }, by: { entityId: ada } });
      await world.idle();
      expect(paid).toEqual([{ amount: 5 }]);
      const request = model.requests[2] as never as { prompt: never };
      expect(inboxOf(request)[0]?.data).toMatchObject({ callId: nameOfCall(callId), outcome: { status: 'approved' } });
      expect(textsOf(request.prompt).join('\n')).toContain('paid 5');
      // The input is sent once: with the result, which names the call.
      expect(
        textsOf(request.prompt)
          .join('\n')
          .match(/\{"amount":5\}/g),
      ).toHaveLength(1);
      expect(textsOf(request.prompt).join('\n')).toContain(
        `The answer to call ${nameOfCall(callId)} (pay {"amount":5}) has come:`,
      );
      expect(await callStatus(world, callId)).toMatchObject({ status: 'settled' });
      expect(await cardStatus(world, callId)).toBe('complete');
    });

    test('[G36] the edited input runs; one that does not fit is refused; a denial runs nothing', async () => {
      const paid: unknown[] = [];
      const model = scriptedModel((request) =>
        inboxOf(request).some(({ type }) => type === 'space_message') &&
        !textsOf(request.prompt).some((text) => text.includes('tool_result')) &&
        resultsOf(request).length % 2 === 0 &&
        resultsOf(request).length < 2
          ? [
              { toolName: 'pay', input: { amount: 5 } },
              { toolName: 'pay', input: { amount: 6 } },
            ]
          : 'I wait.',
      );
      const world = await open({ models: { default: model }, tools: { pay: pay(paid) } });
      const { ada, bot, space } = await lobby(world, { tools: ['pay'] }, { isIn: true });
      await world.say(space, ada, 'Pay');
      await world.idle();
      const calls = await world.store.db
        .selectFrom('calls')
        .select(['id', 'run_id'])
        .where('agent_id', '=', bot)
        .where('wait_kind', 'is not', null)
        .orderBy('index')
        .execute();
      const [first, second] = calls.map(({ id, run_id }) => ({ callId: id, runId: run_id }));
      if (first === undefined || second === undefined) throw new Error('two calls were expected');
      const edited = { ...first, answer: { approve: true, input: { amount: 700 } }, by: { entityId: ada } } as const;
      await expect(answer(world.services, edited)).rejects.toMatchObject({ code: 'invalid_answer' });
      await world.idle();
      expect(paid).toEqual([]);
      expect(await callStatus(world, first.callId)).toMatchObject({ status: 'pending' });
      expect(await cardStatus(world, first.callId)).toBe('requires_action');
      await answer(world.services, {
        ...first,
        answer: { approve: true, input: { amount: 7 } },
        by: { entityId: ada },
      });
      await answer(world.services, { ...second, answer: { deny: 'too much' }, by: { entityId: ada } });
      await world.idle();
      expect(paid).toEqual([{ amount: 7 }]);
      expect(JSON.parse((await callStatus(world, second.callId)).outcome ?? '{}')).toMatchObject({
        status: 'error',
        code: 'denied',
        message: 'too much',
      });
      expect(await cardStatus(world, first.callId)).toBe('complete');
      expect(await cardStatus(world, second.callId)).toBe('cancelled');
      const read = textsOf((model.requests.at(-1) as never as { prompt: never }).prompt).join('\n');
      expect(read).toContain('paid 7');
      expect(read).toContain('too much');
    });

    test('[G36] a decision whose run failed after the tool ran reaches the model when it is redriven, also after compactions, and runs nothing again', async () => {
      let [runs, isDown] = [0, false];
      const danger = tool({
        description: 'Does it.',
        inputSchema: z.object({}),
        approval: true,
        execute: () => `done ${++runs} ${'y'.repeat(8_000)}`,
      });
      const model = scriptedModel((_request, asked) => {
        if (asked === 1) return { toolName: 'danger' };
        return isDown ? new Error('down') : `Done. ${'z'.repeat(8_000)}`;
      });
      const agentLimits = { maxAttempts: 2, consciousnessTokens: 1_000 };
      const world = await open({ models: { default: model }, tools: { danger }, agentLimits });
      const { ada, bot, space } = await lobby(world, { tools: ['danger'] }, { isIn: true });
      await world.say(space, ada, 'Do it');
      await world.idle();
      const pending = await waitingOf(world, bot);
      isDown = true;
      await answer(world.services, { ...pending, answer: { approve: true }, by: { entityId: ada } });
      await world.idle();
      isDown = false;
      for (const text of ['one', 'two']) {
        await world.say(space, ada, text);
        await world.idle();
      }
      await world.store.transaction((tx) => redrive(tx, { agentId: bot }));
      await world.idle();
      const events = await world.store.db
        .selectFrom('inbox_events')
        .select('status')
        .where('thread_id', '=', bot)
        .execute();
      expect(events.map(({ status }) => status)).toEqual(['done', 'done', 'done', 'done']);
      expect(runs).toBe(1);
    });

    test('[G25] the card of an approved call whose agent then fails permanently ends', async () => {
      const danger = tool({
        description: 'Does it.',
        inputSchema: z.object({}),
        approval: true,
        execute: () => 'done',
      });
      const world = await open({
        models: { default: asking('danger') },
        tools: { danger },
        agentLimits: { maxAttempts: 1 },
      });
      const { ada, bot, space } = await lobby(world, { tools: ['danger'] }, { isIn: true });
      await world.say(space, ada, 'Do it');
      await world.idle();
      const pending = await waitingOf(world, bot);
      const config = { model: 'gone/model' };
      await world.store.transaction((tx) => updateAgent(tx, { agentId: bot, config }));
      await answer(world.services, { ...pending, answer: { approve: true }, by: { entityId: ada } });
      await world.idle();
      expect(await cardStatus(world, pending.callId)).toBe('error');
    });
  },
  databases,
);
