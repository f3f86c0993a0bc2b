import { rewindTool, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { getCall } from '../../src/domain/runs/call-details.ts';
import { getRunDetails } from '../../src/domain/runs/run-details.ts';
import { runTranscript } from '../../src/domain/runs/run-transcript.ts';
import { runStream, spaceStream } from '../../src/domain/streams/stream-names.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { databases } from '../support/stores.ts';
import { waitingOf } from '../support/waiting-of.ts';
import type { World } from '../support/world.ts';

const inputSchema = z.object({}).loose();
const slow = tool({
  description: 'Reports how far it is.',
  inputSchema,
  execute(_input, ctx) {
    ctx.progress({ done: 1 });
    return 'fine';
  },
});
const pay = tool({ description: 'Pays.', inputSchema, approval: true, execute: () => 'Paid.' });
const confirm = { executionType: 'space', resultSchema: { type: 'object' } } as const;
const tools = { slow, pay, confirm, rewind: rewindTool };
const names = Object.keys(tools);

async function runIds({ store }: World, agentId: string): Promise<string[]> {
  const rows = await store.db.selectFrom('runs').select('id').where('thread_id', '=', agentId).orderBy('id').execute();
  return rows.map(({ id }) => id);
}

async function told(world: World, runId: string | undefined) {
  return (await world.events(runStream(runId ?? ''))).map(({ type, payload }) => ({ type, ...(payload as object) }));
}

describeWorlds(
  "the stream of an agent's run",
  (open) => {
    test('it has steps with their usage, and starts, progress and ends of calls, in order', async () => {
      const model = scriptedModel([{ toolName: 'slow', input: { a: 1 } }, 'Done.']);
      const world = await open({ models: { default: model }, tools });
      const { ada, bot, space } = await lobby(world, { tools: names });
      await world.say(space, ada, 'Go.');
      await world.idle();
      const [runId] = await runIds(world, bot);
      const events = await told(world, runId);
      expect(events.map(({ type }) => type)).toEqual([
        'run.start',
        'step.start',
        'tool-call.start',
        'tool-call.progress',
        'tool-call.complete',
        'step.end',
        'step.start',
        'step.end',
        'run.end',
      ]);
      expect(events[1]).toEqual({ type: 'step.start', step: 1, attempt: 1 });
      expect(events[2]).toMatchObject({ toolName: 'slow', callId: expect.any(String) });
      expect(events[3]).toMatchObject({ value: { done: 1 } });
      expect(events[5]).toMatchObject({ step: 1, usage: { totalTokens: expect.any(Number) } });
    });

    test('it has a nudge between the step that called no tool and the next', async () => {
      const report = tool({ description: 'Ends.', inputSchema, execute: () => 'the report' });
      const world = await open({
        models: { default: scriptedModel(['I am done.', { toolName: 'report' }]) },
        tools: { report },
      });
      const terminating = { toolIds: ['report'], nudgeMessage: 'End with report.' };
      const { ada, bot, space } = await lobby(world, { tools: ['report'], terminating });
      await world.say(space, ada, 'Report.');
      await world.idle();
      const [runId] = await runIds(world, bot);
      const events = (await told(world, runId)).filter(({ type }) => type.startsWith('step') || type === 'nudge');
      expect(events).toMatchObject([
        { type: 'step.start', step: 1 },
        { type: 'step.end', step: 1 },
        { type: 'nudge', step: 1, text: 'End with report.' },
        { type: 'step.start', step: 2 },
        { type: 'step.end', step: 2 },
      ]);
      const { items } = await runTranscript(world.store.db, runId ?? '');
      expect(items.filter(({ kind }) => kind === 'nudge')).toMatchObject([
        { entry: { why: 'no-call', text: 'End with report.' } },
      ]);
    });

    test('it has a reply that is requested again, and a rewind', async () => {
      const away = Object.assign(new Error('The model is away.'), { statusCode: 503, isRetryable: true });
      const model = scriptedModel([
        away,
        { toolName: 'slow' },
        { toolName: 'rewind', input: { reason: 'Wrong way.', guidance: 'Go left.' } },
        'Done.',
      ]);
      const world = await open({ models: { default: model }, tools });
      const { ada, bot, space } = await lobby(world, { tools: names });
      await world.say(space, ada, 'Go.');
      await world.idle();
      const events = await told(world, (await runIds(world, bot))[0]);
      expect(events.filter(({ type }) => type === 'step.start').slice(0, 2)).toEqual([
        { type: 'step.start', step: 1, attempt: 1 },
        { type: 'step.start', step: 1, attempt: 2 },
      ]);
      expect(events).toContainEqual({ type: 'rewind', step: 2, reason: 'Wrong way.', guidance: 'Go left.' });
    });

    test("[G27] a space's stream has no steps, and no calls that it does not show", async () => {
      const model = scriptedModel([{ toolName: 'slow', input: { quiet: 'secret input' } }, 'Done.']);
      const world = await open({
        models: { default: model },
        tools: { slow: { executionType: 'internal', execution: { value: 'secret output' } } },
      });
      const { ada, space } = await lobby(world, { tools: ['slow'] }, { isIn: true });
      await world.say(space, ada, 'Go.');
      await world.idle();
      const heard = JSON.stringify(await world.events(spaceStream(space)));
      for (const word of ['step.', 'slow', 'secret']) expect(heard).not.toContain(word);
    });

    test('a waiting call is shown as answered at once, and as ended when the agent handles it, with true times and the answerer', async () => {
      const model = scriptedModel([{ toolName: 'confirm' }, 'I wait.', 'Thanks.']);
      const world = await open({ models: { default: model }, tools });
      const { ada, bot, space } = await lobby(world, { tools: names }, { isIn: true });
      await world.say(space, ada, 'Ask me.');
      await world.idle();
      const { callId, runId } = await waitingOf(world, bot);
      await answer(world.services, { runId, callId, answer: { result: { yes: true } }, by: { entityId: ada } });
      await world.idle();
      const events = await told(world, runId);
      const ended = events.findIndex(({ type }) => type === 'run.end');
      expect(events.slice(ended + 1)).toEqual([
        {
          type: 'tool-call.answered',
          callId,
          toolName: 'confirm',
          decision: 'result',
          by: { id: ada, name: 'Ada' },
          at: expect.any(Number),
        },
        { type: 'tool-call.complete', callId, toolName: 'confirm', input: {}, outcome: expect.anything() },
      ]);
      const pending = await world.store.db
        .selectFrom('calls')
        .select(['waiting_since', 'answered_at'])
        .where('id', '=', callId)
        .executeTakeFirstOrThrow();
      const second = (await runIds(world, bot))[1] ?? '';
      const { items } = await runTranscript(world.store.db, second);
      expect(items.find(({ kind }) => kind === 'settled')).toMatchObject({
        by: { id: ada, name: 'Ada' },
        entry: { settlement: { callId, startedAt: pending.waiting_since, endedAt: pending.answered_at } },
      });
    });

    test('the end of an approved call is in the streams of the run that asked and of the run that ran it', async () => {
      const model = scriptedModel([{ toolName: 'pay' }, 'I wait.', 'Thanks.']);
      const world = await open({ models: { default: model }, tools });
      const { ada, bot, space } = await lobby(world, { tools: names }, { isIn: true });
      await world.say(space, ada, 'Pay.');
      await world.idle();
      const { callId, runId } = await waitingOf(world, bot);
      await answer(world.services, { runId, callId, answer: { approve: true }, by: { entityId: ada } });
      await world.idle();
      const [asked, ran] = await runIds(world, bot);
      const endOf = (events: readonly { type: string }[]) => events.filter(({ type }) => type === 'tool-call.complete');
      const [told1, told2] = [await told(world, asked), await told(world, ran)];
      expect(told1).toContainEqual(expect.objectContaining({ type: 'tool-call.answered', decision: 'approve' }));
      expect(endOf(told1)).toMatchObject([{ callId, outcome: { status: 'ok' } }]);
      expect(endOf(told2)).toEqual(endOf(told1));
      const { items } = await runTranscript(world.store.db, ran ?? '');
      expect(items.find(({ kind }) => kind === 'settled')).toMatchObject({ by: { id: ada, name: 'Ada' } });
    });

    test('the transcript of the run that asked has the end of the call, like the call itself and the list of runs', async () => {
      const model = scriptedModel([{ toolName: 'pay' }, 'I wait.', 'Thanks.']);
      const world = await open({ models: { default: model }, tools });
      const { ada, bot, space } = await lobby(world, { tools: names }, { isIn: true });
      await world.say(space, ada, 'Pay.');
      await world.idle();
      const { callId, runId } = await waitingOf(world, bot);
      const waits = async () =>
        (await runTranscript(world.store.db, runId)).items.find(({ kind }) => kind === 'pending');
      expect(await waits()).not.toHaveProperty('ended');
      await answer(world.services, { runId, callId, answer: { approve: true }, by: { entityId: ada } });
      await world.idle();
      const { outcome, settledAt } = await getCall(world.store.db, callId, { entityId: undefined });
      expect(await waits()).toMatchObject({
        entry: { settlement: { outcome: { status: 'pending' } } },
        ended: { outcome, at: settledAt },
      });
      expect(outcome).toMatchObject({ status: 'ok' });
      expect(await getRunDetails(world.store.db, runId)).toMatchObject({ counts: { ok: 1, waiting: 0 } });
    });
  },
  databases,
);
