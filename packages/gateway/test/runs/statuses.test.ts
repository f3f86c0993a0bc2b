import { type Answer, tool } from '@lastcall/core';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { pauseAgent, resumeAgent } from '../../src/domain/agents/pause-agent.ts';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { expireDue } from '../../src/domain/calls/expire-due.ts';
import { redrive } from '../../src/domain/inbox/redrive.ts';
import { getCall } from '../../src/domain/runs/call-details.ts';
import { getRunCall } from '../../src/domain/runs/run-call.ts';
import { getRunDetails, listCountedRuns } from '../../src/domain/runs/run-details.ts';
import { runTranscript } from '../../src/domain/runs/run-transcript.ts';
import { getStory } from '../../src/domain/runs/story.ts';
import { call, chatApi } from '../chat/chat-api.ts';
import { describeWorlds, type OpenWorld } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';

const pay = tool({
  description: 'Pays.',
  inputSchema: z.looseObject({}),
  approval: true,
  execute: ({ fails }) => {
    if (fails === true) throw new Error('The bank is closed.');
    return 'Paid.';
  },
});

/** An agent that has requested approval of a payment. */
async function asking(open: OpenWorld, input: object = {}, after: ScriptedReply = 'Noted.') {
  const asks: ScriptedReply = [{ toolName: 'pay', input }];
  const models = { default: scriptedModel((_request, invocation) => (invocation === 1 ? asks : after)) };
  const world = await open({ models, tools: { pay } });
  const { ada, bot, space } = await lobby(world, { tools: ['pay'], limits: { maxAttempts: 1 } }, { isIn: true });
  await world.say(space, ada, 'Pay invoice 7');
  await world.idle();
  const { items } = await listCountedRuns(world.store.db, { agentId: bot });
  const { id: runId = '' } = items[0] ?? {};
  const { id: callId } = await callOf(world, bot);
  const say = (given: Answer) => answer(world.services, { callId, runId, answer: given, by: { entityId: ada } });
  return { world, bot, runId, callId, say };
}

const callOf = ({ store }: World, agentId: string) =>
  store.db.selectFrom('calls').select(['id', 'run_id']).where('agent_id', '=', agentId).executeTakeFirstOrThrow();

/** Everything that the API says about the call, its run and its task. */
async function statusesOf({ store: { db } }: World, { runId, callId }: { runId: string; callId: string }) {
  const run = await getRunDetails(db, runId);
  const story = await getStory(db, runId);
  const transcript = await runTranscript(db, runId);
  const listed = async (status: 'waiting' | 'completed') =>
    (await listCountedRuns(db, { status })).items.some(({ id }) => id === runId);
  const call = (await getCall(db, callId, { entityId: undefined })).status;
  expect((await getRunCall(db, runId, callId)).status).toBe(call);
  expect(story.waits.map(({ status }) => status)).toEqual([call]);
  expect(transcript.items.flatMap(({ status }) => status ?? [])).toEqual([call]);
  expect(Object.entries(run.counts).filter(([, count]) => count > 0)).toEqual([[call, 1]]);
  if (call !== undefined && call !== 'planned')
    expect((await listCountedRuns(db, { outcome: call })).items.map(({ id }) => id)).toContain(runId);
  expect(await listed('waiting')).toBe(run.status === 'waiting');
  expect(await listed('completed')).toBe(run.status === 'completed');
  expect(story.runs.find(({ id }) => id === runId)?.status).toBe(run.status);
  return { call, run: run.status, task: story.status };
}

describeWorlds(
  'the status of a call, a run and a task',
  (open) => {
    test('[S22] is waiting, then ok for a call that is approved and runs, wherever it is read', async () => {
      const { world, bot, say, ...ids } = await asking(open);
      expect(await statusesOf(world, ids)).toEqual({ call: 'waiting', run: 'waiting', task: 'waiting' });
      await world.in((tx) => pauseAgent(tx, bot));
      await say({ approve: true });
      expect(await statusesOf(world, ids)).toEqual({ call: 'running', run: 'completed', task: 'queued' });
      await world.in((tx) => resumeAgent(tx, bot));
      await world.idle();
      expect(await statusesOf(world, ids)).toEqual({ call: 'ok', run: 'completed', task: 'completed' });
    });

    test('[S22] is denied for a call that a person denies, at once and after the agent has read it', async () => {
      const { world, bot, say, ...ids } = await asking(open);
      await world.in((tx) => pauseAgent(tx, bot));
      await say({ deny: 'Too much.' });
      expect(await statusesOf(world, ids)).toEqual({ call: 'denied', run: 'completed', task: 'queued' });
      await world.in((tx) => resumeAgent(tx, bot));
      await world.idle();
      expect(await statusesOf(world, ids)).toEqual({ call: 'denied', run: 'completed', task: 'completed' });
    });

    test('[S22] is expired for a call that no one answers in time', async () => {
      const { world, bot, ...ids } = await asking(open);
      await world.in((tx) => pauseAgent(tx, bot));
      await world.in((tx) => tx.db.updateTable('calls').set({ expires_at: 1 }).where('id', '=', ids.callId).execute());
      // The gateway's own sweep may do it at the same time.
      await expireDue(world.services);
      await expect.poll(async () => (await getStory(world.store.db, ids.runId)).waits[0]?.status).toBe('expired');
      expect(await statusesOf(world, ids)).toMatchObject({ call: 'expired', run: 'completed' });
      await world.in((tx) => resumeAgent(tx, bot));
      await world.idle();
      expect(await statusesOf(world, ids)).toEqual({ call: 'expired', run: 'completed', task: 'completed' });
    });

    test('[S22] is error for a call that is approved and fails', async () => {
      const { world, say, ...ids } = await asking(open, { fails: true });
      await say({ approve: true });
      await world.idle();
      expect(await statusesOf(world, ids)).toEqual({ call: 'error', run: 'completed', task: 'completed' });
    });

    test('[S22] a story has every run of its task, for each of its runs, also those that failed and were retried', async () => {
      let isBroken = true;
      const model = scriptedModel((_request, invocation) => {
        if (invocation === 1) return [{ toolName: 'pay', input: {} }];
        return invocation > 2 && isBroken ? new Error('Broken.') : 'Noted.';
      });
      const world = await open({ models: { default: model }, tools: { pay } });
      const { ada, bot, space } = await lobby(world, { tools: ['pay'], limits: { maxAttempts: 1 } }, { isIn: true });
      await world.say(space, ada, 'Pay invoice 7');
      await world.idle();
      const { db } = world.store;
      const { id: callId, run_id: runId } = await callOf(world, bot);
      await answer(world.services, { callId, runId, answer: { approve: true }, by: { key: true } });
      await expect.poll(async () => (await getStory(db, runId)).status).toBe('failed');
      isBroken = false;
      await world.in((tx) => redrive(tx, { agentId: bot }));
      await world.idle();
      const story = await getStory(db, runId);
      expect(story).toMatchObject({
        ...{ id: runId, status: 'completed', endedAt: expect.any(Number) },
        waits: [{ callId, runId, toolName: 'pay', kind: 'approval', decision: 'approve', by: 'an operator' }],
      });
      expect(story.runs.map(({ status, attempt }) => [status, attempt])).toEqual([
        ['completed', 1],
        ['failed', 1],
        ['completed', 1],
      ]);
      expect(story.runs[0]?.trigger[0]?.text).toBe('Pay invoice 7');
      for (const { id } of story.runs) expect(await getStory(db, id)).toEqual(story);
      const [wait] = story.waits;
      expect((wait?.until ?? 0) - (wait?.since ?? 0)).toBeGreaterThanOrEqual(0);
      expect(story.runs.at(-1)?.createdAt).toBeGreaterThanOrEqual(wait?.until ?? Number.POSITIVE_INFINITY);
    });

    test('[S22] a conversation whose two calls wait is waiting until both are answered, and its runs are one story', async () => {
      const model = scriptedModel([[call('pay'), call('pay')], 'Paid twice.']);
      const world = await open({ models: { default: model }, tools: { pay } });
      const api = await chatApi(world);
      const agent = await api.agent('Bot', { tools: ['pay'] });
      const asked = await api.done('POST', '/chat', { agent, message: 'Pay' });
      const first = String(asked.run_id);
      const statuses = async () =>
        ((await api.done('GET', `/api/runs/${first}/story`)) as { runs: { status: string }[] }).runs.map(
          ({ status }) => status,
        );
      expect(await statuses()).toEqual(['waiting']);
      const [one, two] = asked.pending_calls as { tool_call_id: string }[];
      const approve = async (given: { tool_call_id: string } | undefined) => {
        await api.done('POST', `/api/runs/${first}/tool-results`, { callId: given?.tool_call_id, approve: true });
        await world.idle();
      };
      await approve(one);
      expect(await statuses()).toEqual(['waiting', 'waiting']);
      await approve(two);
      expect(await statuses()).toEqual(['completed', 'completed', 'completed']);
    });
  },
  databases,
);
