import { tool } from '@lastcall/core';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { pauseAgent, resumeAgent } from '../../src/domain/agents/pause-agent.ts';
import { type AnsweredCall, answer } from '../../src/domain/calls/answer-call.ts';
import { redrive } from '../../src/domain/inbox/redrive.ts';
import { requestCancel } from '../../src/domain/runs/request-cancel.ts';
import { getRun } from '../../src/domain/runs/run.ts';
import { getRunDetails } from '../../src/domain/runs/run-details.ts';
import { call, chatApi } from '../chat/chat-api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';

const ask = { executionType: 'space' } as const;
const asks = (count: number): ScriptedReply => Array.from({ length: count }, () => ({ toolName: 'ask', input: {} }));
const first = (reply: ScriptedReply) => scriptedModel((_request, invocation) => (invocation === 1 ? reply : 'Noted.'));

const callsOf = ({ store }: World, agentId: string) =>
  store.db
    .selectFrom('calls')
    .select(['id as callId', 'run_id as runId'])
    .where('agent_id', '=', agentId)
    .where('wait_kind', 'is not', null)
    .orderBy('id')
    .execute();

const give = (world: World, call: Pick<AnsweredCall, 'callId' | 'runId'>, result: unknown = 'yes') =>
  answer(world.services, { ...call, answer: { result }, by: { key: true } });

const takenBy = async ({ store }: World, runId: string) =>
  (await getRun(store.db, runId)).trigger.map((one) => one.eventId);

describeWorlds(
  'the run that continues after an answer',
  (open) => {
    test('[A25] is named by the answer before it starts, is queued until then, and is the continuedBy of the run that asked', async () => {
      const world = await open({ models: { default: first(asks(1)) }, tools: { ask } });
      const { ada, bot, space } = await lobby(world, { tools: ['ask'] }, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      const [asked] = await callsOf(world, bot);
      if (asked === undefined) throw new Error('It did not ask.');
      const { db } = world.store;
      expect(await getRunDetails(db, asked.runId)).not.toHaveProperty('continuedBy');
      await world.in((tx) => pauseAgent(tx, bot));
      const { runId, duplicate } = await give(world, asked);
      expect(duplicate).toBe(false);
      expect(await getRunDetails(db, runId)).toMatchObject({
        ...{ id: runId, agentId: bot, status: 'queued' },
        trigger: [{ eventId: `tool_result:${asked.callId}`, type: 'tool_result', callId: asked.callId }],
      });
      expect((await getRunDetails(db, asked.runId)).continuedBy).toBe(runId);
      await expect(world.in((tx) => requestCancel(tx, runId))).rejects.toMatchObject({ code: 'run_queued' });
      expect(await give(world, asked)).toEqual({ callId: asked.callId, duplicate: true, runId });
      await world.in((tx) => resumeAgent(tx, bot));
      await world.idle();
      expect(await getRunDetails(db, runId)).toMatchObject({ id: runId, status: 'completed', number: 2 });
      expect((await getRunDetails(db, asked.runId)).continuedBy).toBe(runId);
      expect(await give(world, asked)).toEqual({ callId: asked.callId, duplicate: true, runId });
    });

    test('[A25] is the same for answers that one run consumes, and it consumes all of them, however small its batches are', async () => {
      const world = await open({ models: { default: first(asks(3)) }, tools: { ask } });
      const config = { tools: ['ask'], limits: { eventsPerCycle: 2 } };
      const { ada, bot, space } = await lobby(world, config, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      await world.in((tx) => pauseAgent(tx, bot));
      const asked = await callsOf(world, bot);
      const named = [];
      for (const one of asked) named.push((await give(world, one)).runId);
      expect(new Set(named).size).toBe(1);
      await world.say(space, ada, 'Hurry');
      await world.in((tx) => resumeAgent(tx, bot));
      await world.idle();
      const taken = await takenBy(world, named[0] ?? '');
      for (const { callId } of asked) expect(taken).toContain(`tool_result:${callId}`);
    });

    test('[A25] is another run for answers beyond the limit of one run', async () => {
      const world = await open({ models: { default: first(asks(60)) }, tools: { ask } });
      const { ada, bot, space } = await lobby(
        world,
        { tools: ['ask'], limits: { eventsPerCycle: 100 } },
        { isIn: true },
      );
      await world.say(space, ada, 'Go');
      await world.idle();
      await world.in((tx) => pauseAgent(tx, bot));
      const asked = await callsOf(world, bot);
      const named = new Map<string, string>();
      for (const one of asked) named.set(one.callId, (await give(world, one)).runId);
      expect([...new Set(named.values())].map((id) => [...named.values()].filter((one) => one === id).length)).toEqual([
        50, 10,
      ]);
      await world.in((tx) => resumeAgent(tx, bot));
      await world.idle();
      for (const [callId, runId] of named) expect(await takenBy(world, runId)).toContain(`tool_result:${callId}`);
    });

    test('[A25] is the run that consumes the answer, also if answers arrive while runs begin and end', async () => {
      const world = await open({ models: { default: first(asks(40)) }, tools: { ask } });
      const { ada, bot, space } = await lobby(world, { tools: ['ask'] }, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      const asked = await callsOf(world, bot);
      const answered = await Promise.all(asked.map((one) => give(world, one)));
      await world.idle();
      for (const { callId, runId } of answered) expect(await takenBy(world, runId)).toContain(`tool_result:${callId}`);
    });

    test('[A25] is retried under another id, which the first attempt and the answer lead to', async () => {
      let isBroken = true;
      const model = scriptedModel((_request, invocation) => {
        if (invocation === 1) return asks(1);
        return invocation > 2 && isBroken ? new Error('Broken.') : 'Noted.';
      });
      const limits = { maxAttempts: 2 };
      const world = await open({ models: { default: model }, tools: { ask } });
      const { ada, bot, space } = await lobby(world, { tools: ['ask'], limits }, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      const [asked] = await callsOf(world, bot);
      if (asked === undefined) throw new Error('It did not ask.');
      const { runId } = await give(world, asked);
      await expect
        .poll(
          async () =>
            (
              await world.in((tx) =>
                tx.db
                  .selectFrom('inbox_events')
                  .select('status')
                  .where('thread_id', '=', bot)
                  .where('status', '=', 'dead')
                  .execute(),
              )
            ).length,
        )
        .toBe(1);
      expect(await getRun(world.store.db, runId)).toMatchObject({ status: 'failed', number: 2 });
      const again = await give(world, asked);
      expect(again.duplicate).toBe(true);
      expect(await getRun(world.store.db, again.runId)).toMatchObject({ status: 'failed', retryOf: runId });
      isBroken = false;
      await world.in((tx) => pauseAgent(tx, bot));
      await world.in((tx) => redrive(tx, { agentId: bot }));
      const redriven = await give(world, asked);
      expect(await getRun(world.store.db, redriven.runId)).toMatchObject({ status: 'queued' });
      await world.in((tx) => resumeAgent(tx, bot));
      await world.idle();
      expect(await getRun(world.store.db, redriven.runId)).toMatchObject({ status: 'completed' });
    });

    const pay = tool({ description: 'Pays.', inputSchema: z.looseObject({}), approval: true, execute: () => 'Paid.' });

    test('[A25] of a suspended chat request is named over HTTP, and GET /api/runs lists the runs of the conversation', async () => {
      const model = scriptedModel([[call('pay'), call('pay')], 'Hello.', 'Paid twice.']);
      const world = await open({ models: { default: model }, tools: { pay } });
      const api = await chatApi(world);
      const agent = await api.agent('Bot', { tools: ['pay'] });
      const asked = await api.done('POST', '/chat', { agent, message: 'Pay' });
      await api.done('POST', '/chat', { agent, message: 'Something else' });
      const runs: string[] = [];
      for (const { tool_call_id: callId } of asked.pending_calls as { tool_call_id: string }[]) {
        const path = `/api/runs/${String(asked.run_id)}/tool-results`;
        const answered = await api.done('POST', path, { callId, approve: true });
        expect(answered).toEqual({ callId, duplicate: false, runId: expect.any(String) });
        runs.push(String(answered.runId));
        await world.idle();
      }
      const [once, twice] = runs;
      expect(await api.done('GET', `/api/runs/${asked.run_id}`)).toMatchObject({ continuedBy: once });
      expect(await api.done('GET', `/api/runs/${once}`)).toMatchObject({
        stop: { reason: 'suspended' },
        continuedBy: twice,
      });
      expect(await api.done('GET', `/api/runs/${twice}`)).toMatchObject({
        status: 'completed',
        response: 'Paid twice.',
      });
      const { items } = await api.done<{ items: { id: string }[] }>('GET', `/api/runs?contextId=${asked.context_id}`);
      expect(items.map(({ id }) => id)).toEqual([twice, once, asked.run_id]);
      const none = await api.done<{ items: unknown[] }>('GET', `/api/runs?contextId=${agent}`);
      expect(none.items).toEqual([]);
    });

    test('[A25] has the output of the answered call as its response, if the call ends the task', async () => {
      const pay = tool({ description: 'p', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
      const world = await open({
        models: { default: scriptedModel([[call('ask')], [call('pay')]]) },
        tools: { ask, pay },
      });
      const api = await chatApi(world);
      const agent = await api.agent('Bot', { tools: ['ask', 'pay'] });
      for (const [name, given, response] of [
        ['ask', { result: 'Signed.' }, 'Signed.'],
        ['pay', { approve: true }, 'Paid.'],
      ] as const) {
        const body = { agent, message: 'Go', terminating_config: { tool_ids: [name] } };
        const { run_id, pending_calls } = await api.done('POST', '/chat', body);
        const [{ tool_call_id: callId }] = pending_calls as [{ tool_call_id: string }];
        const { runId } = await api.done('POST', `/api/runs/${run_id}/tool-results`, { callId, ...given });
        await world.idle();
        const stop = { reason: 'end_turn', by: 'terminating', tool: name };
        expect(await api.done('GET', `/api/runs/${runId}`)).toMatchObject({ stop, response });
      }
    });

    test('[A25] of a conversation is the run of a waiting request, or one before it', async () => {
      let goOn = (): void => {};
      const held = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const wait = tool({
        ...{ description: 'Waits.', inputSchema: z.looseObject({}) },
        async execute() {
          await held;
          return 'Waited.';
        },
      });
      const model = scriptedModel([[call('pay'), call('pay')], [call('wait')], 'A.', 'B.', 'C.', 'D.']);
      const world = await open({ models: { default: model }, tools: { pay, wait } });
      const api = await chatApi(world);
      const agent = await api.agent('Bot', { tools: ['pay', 'wait'] });
      const asked = await api.done('POST', '/chat', { agent, message: 'Pay' });
      const { context_id, run_id } = asked;
      const [one, other] = (asked.pending_calls as { tool_call_id: string }[]).map((each) => each.tool_call_id);
      const approve = async (callId: string | undefined) =>
        String((await api.done('POST', `/api/runs/${run_id}/tool-results`, { callId, approve: true })).runId);
      const busy = api.done('POST', '/chat', { context_id, message: 'Wait' });
      await expect.poll(() => model.requests.length).toBe(2);
      // While a run works: an answer first, then a request.
      const ofAnswer = await approve(one);
      const queued = api.done('POST', '/chat', { context_id, message: 'Next' });
      await expect
        .poll(
          async () =>
            (
              await world.in((tx) =>
                tx.db
                  .selectFrom('inbox_events')
                  .select('id')
                  .where('type', '=', 'chat')
                  .where('status', '=', 'pending')
                  .execute(),
              )
            ).length,
        )
        .toBe(1);
      expect(await approve(other)).toBe(ofAnswer);
      goOn();
      await busy;
      const next = await queued;
      expect(next.run_id).not.toBe(ofAnswer);
      await world.idle();
      expect(await takenBy(world, ofAnswer)).toEqual([`tool_result:${one}:decision`, `tool_result:${other}:decision`]);
    });

    test('[A25] an answer joins the run of a request that already waits, and outlives its cancel', async () => {
      let goOn = (): void => {};
      const held = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const wait = tool({
        ...{ description: 'Waits.', inputSchema: z.looseObject({}) },
        async execute() {
          await held;
          return 'Waited.';
        },
      });
      const model = scriptedModel([[call('pay')], [call('wait')], 'A.', 'B.', 'C.', 'D.']);
      const world = await open({ models: { default: model }, tools: { pay, wait } });
      const api = await chatApi(world);
      const agent = await api.agent('Bot', { tools: ['pay', 'wait'] });
      const { context_id, run_id, pending_calls } = await api.done('POST', '/chat', { agent, message: 'Pay' });
      const [{ tool_call_id: callId }] = pending_calls as [{ tool_call_id: string }];
      const busy = api.done('POST', '/chat', { context_id, message: 'Wait' });
      await expect.poll(() => model.requests.length).toBe(2);
      const queued = api.call('POST', '/chat', { body: { context_id, message: 'Next' } });
      const waiting = () =>
        world.in((tx) =>
          tx.db
            .selectFrom('inbox_events')
            .select('run_id')
            .where('type', '=', 'chat')
            .where('status', '=', 'pending')
            .execute(),
        );
      await expect.poll(async () => (await waiting()).length).toBe(1);
      const [request] = await waiting();
      const path = `/api/runs/${run_id}/tool-results`;
      expect(await api.done('POST', path, { callId, approve: true })).toMatchObject({ runId: request?.run_id });
      await world.in((tx) => requestCancel(tx, request?.run_id ?? ''));
      const again = await api.done('POST', path, { callId, approve: true });
      expect(again).toMatchObject({ duplicate: true, runId: expect.any(String) });
      expect(again.runId).not.toBe(request?.run_id);
      goOn();
      await Promise.all([busy, queued]);
      await world.idle();
      expect(await takenBy(world, String(again.runId))).toEqual([`tool_result:${callId}:decision`]);
    });
  },
  databases,
);
