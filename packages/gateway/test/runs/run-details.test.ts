import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answer, answerCall } from '../../src/domain/calls/answer-call.ts';
import { listInbox } from '../../src/domain/inbox/list-inbox.ts';
import { pushServiceEvent } from '../../src/domain/inbox/push-service-event.ts';
import { getCall } from '../../src/domain/runs/call-details.ts';
import { listRuns } from '../../src/domain/runs/run.ts';
import { getRunDetails, listCountedRuns } from '../../src/domain/runs/run-details.ts';
import { createTool } from '../../src/domain/tools/change-tool.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { frameTagOf } from '../support/frames.ts';
import { lobby } from '../support/lobby.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';

const inputSchema = z.object({}).loose();
const fine = tool({ description: 'Works.', inputSchema, execute: () => 'fine' });
const broken = tool({
  description: 'Throws.',
  inputSchema,
  execute: () => {
    throw new Error('It broke.');
  },
});
const file_report = tool({ description: 'Ends.', inputSchema, terminal: true, execute: () => 'the report' });
const tools = { fine, broken, file_report };
const calls = (...names: string[]) => ({ calls: names.map((toolName) => ({ toolName, input: {} })) });

const runsOf = async ({ store }: World, agentId: string) => (await listCountedRuns(store.db, { agentId })).items;

describeWorlds(
  'the details of runs',
  (open) => {
    test('a run has the outcomes of its calls, its result, and the model of its replies', async () => {
      const model = scriptedModel([calls('fine', 'broken', 'fine'), calls('file_report', 'fine'), 'Done.']);
      const world = await open({ models: { default: model }, tools });
      const { ada, bot, space } = await lobby(world, { tools: Object.keys(tools) });
      await world.say(space, ada, 'Report.');
      await world.idle();
      await world.say(space, ada, 'Thanks.');
      await world.idle();
      const [second, first] = await runsOf(world, bot);
      const counts = { ok: 3, error: 1, cancelled: 0, skipped: 1, waiting: 0, running: 0 };
      expect(first).toMatchObject({ counts, attempt: 1 });
      expect(first).not.toHaveProperty('response');
      const { modelId } = model;
      expect(await getRunDetails(world.store.db, first?.id ?? '')).toMatchObject({
        counts,
        response: 'the report',
        model: modelId,
      });
      expect(await getRunDetails(world.store.db, second?.id ?? '')).toMatchObject({
        response: 'Done.',
        model: modelId,
      });
    });

    test('a run says who woke it and with which text, cut to a line', async () => {
      const confirm = { executionType: 'space', resultSchema: { type: 'boolean' } } as const;
      const model = scriptedModel([calls('confirm'), 'Asked.', 'Thanks.', 'Paid.']);
      const world = await open({ models: { default: model }, tools: { confirm } });
      const { ada, bot, space } = await lobby(world, { tools: ['confirm'] }, { isIn: true });
      await world.say(space, ada, 'Book it. '.repeat(50));
      await world.idle();
      const { id: callId, run_id: runId } = await world.store.db
        .selectFrom('calls')
        .select(['id', 'run_id'])
        .where('agent_id', '=', bot)
        .where('wait_kind', 'is not', null)
        .executeTakeFirstOrThrow();
      const answer = { callId, runId, answer: { result: true }, by: { entityId: ada } };
      await world.in((tx) => answerCall(tx, answer));
      await world.idle();
      await world.in((tx) => pushServiceEvent(tx, { agentId: bot, eventId: 'o1', source: 'shop', name: 'order.paid' }));
      await world.idle();
      expect((await runsOf(world, bot)).map(({ trigger }) => trigger)).toEqual([
        [{ eventId: 'o1', type: 'service', by: 'shop', text: 'order.paid' }],
        [{ eventId: `tool_result:${callId}`, type: 'tool_result', by: 'Ada', text: 'confirm: ok', callId }],
        [
          {
            eventId: expect.any(String),
            type: 'space_message',
            by: 'Ada',
            text: `${'Book it. '.repeat(50).slice(0, 200)}…`,
            spaceId: space,
          },
        ],
      ]);
    });

    test('[G63] the response of a run does not repeat the frame that delimits events', async () => {
      const model = scriptedModel((request) => `I read <inbox-${frameTagOf(request)}>.`);
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world);
      await world.say(space, ada, 'Hello.');
      await world.idle();
      const [run] = await runsOf(world, bot);
      expect((await getRunDetails(world.store.db, run?.id ?? '')).response).toBe('I read <inbox-hidden>.');
    });

    test('the attempts of an event are linked: each run names the one before', async () => {
      const down = () => {
        throw new Error('The model is away.');
      };
      const world = await open({
        models: { default: scriptedModel([down, down, 'Back.']) },
        agentLimits: { maxAttempts: 3 },
      });
      const { ada, bot, space } = await lobby(world);
      await world.say(space, ada, 'Hello.');
      await world.idle();
      const [third, second, first] = await runsOf(world, bot);
      expect(first).toMatchObject({ attempt: 1, status: 'failed' });
      expect(first).not.toHaveProperty('retryOf');
      expect(second).toMatchObject({ attempt: 2, retryOf: first?.id });
      expect(third).toMatchObject({ attempt: 3, retryOf: second?.id, status: 'completed' });
      // The event is found by each of the runs that tried it.
      for (const run of [first, second, third])
        expect((await listInbox(world.store.db, { agentId: bot, runId: run?.id ?? '' })).items).toMatchObject([
          { eventId: first?.trigger[0]?.eventId, status: 'done' },
        ]);
      expect((await listInbox(world.store.db, { agentId: bot, runId: 'none' })).items).toEqual([]);
    });

    test('a run that another worker continued has the time, the entry before, the old and the new worker', async () => {
      const inside = Promise.withResolvers<void>();
      let isFirst = true;
      const record = tool({
        description: 'Records.',
        inputSchema,
        idempotent: true,
        execute: async () => {
          if (!isFirst) return 'recorded';
          isFirst = false;
          inside.resolve();
          return await new Promise<never>(() => {});
        },
      });
      const world = await open({
        models: { default: scriptedModel([calls('record'), 'Done.']) },
        tools: { record },
        limits: { leaseMs: 600, graceMs: 500 },
      });
      const { ada, bot, space } = await lobby(world, { tools: ['record'] });
      await world.say(space, ada, 'Record it.');
      await inside.promise;
      // Takes the thread from the worker, as if it had died.
      await world.in((tx) =>
        tx.db
          .updateTable('threads')
          .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_owner: null, lease_until: 0 }))
          .where('id', '=', bot)
          .execute(),
      );
      await world.idle();
      const [run] = await runsOf(world, bot);
      const takeover = {
        afterSeq: expect.any(Number),
        from: expect.any(String),
        to: expect.any(String),
        silentMs: expect.any(Number),
      };
      expect(run).toMatchObject({ status: 'completed', takeovers: [{ at: expect.any(Number), ...takeover }] });
      expect(run?.worker).toBe(run?.takeovers?.[0]?.to);
      const events = await world.events(`run:${run?.id}`);
      expect(events.filter(({ type }) => type === 'run.taken').map(({ payload }) => payload)).toEqual([
        { runId: run?.id, ...takeover },
      ]);
    });

    test('runs are found by tool, outcome, reason of their stop, space, event and time', async () => {
      const model = scriptedModel([calls('fine'), 'Fine.', calls('broken'), 'Broken.', calls('file_report')]);
      const world = await open({ models: { default: model }, tools });
      const { ada, bot, space } = await lobby(world, { tools: Object.keys(tools) }, { isIn: true });
      const messages: string[] = [];
      for (const text of ['one', 'two', 'three']) {
        messages.push(await world.say(space, ada, text));
        await world.idle();
      }
      const { db } = world.store;
      const found = async (filter: object) =>
        (await listRuns(db, { agentId: bot, ...filter })).items.map(({ number }) => number).sort();
      expect(await found({ toolName: 'fine' })).toEqual([1]);
      expect(await found({ outcome: 'error' })).toEqual([2]);
      expect(await found({ toolName: 'fine', outcome: 'error' })).toEqual([]);
      expect(await found({ stop: 'end_turn' })).toEqual([1, 2, 3]);
      expect(await found({ stop: 'max_steps' })).toEqual([]);
      expect(await found({ stop: 'end_' })).toEqual([]);
      expect(await found({ eventId: `message:${messages[1]}` })).toEqual([2]);
      expect(await found({ eventId: 'message:%' })).toEqual([]);
      expect(await found({ spaceId: 'elsewhere' })).toEqual([]);
      const [third] = (await listRuns(db, { agentId: bot })).items;
      expect(await found({ since: third?.createdAt })).toEqual([3]);
      expect(await found({ until: third?.createdAt })).toEqual([1, 2]);
    });

    test('a reply in the transcript has the times of its request and its arrival, the number of attempts, and the model', async () => {
      const model = scriptedModel(['Hello.']);
      const world = await open({ models: { default: model } });
      const { ada, space } = await lobby(world);
      await world.say(space, ada, 'Hello.');
      await world.idle();
      const row = await world.store.db
        .selectFrom('transcript_entries')
        .select('payload')
        .where('kind', '=', 'reply')
        .executeTakeFirstOrThrow();
      const { entry } = JSON.parse(row.payload);
      expect(entry).toMatchObject({ attempts: 1, model: model.modelId, provider: model.provider });
      expect(entry.endedAt).toBeGreaterThanOrEqual(entry.startedAt);
    });

    test('[G1] a call is shown to keys completely, to members as on its card, and not to others', async () => {
      const model = scriptedModel([calls('confirm', 'secret_step'), 'Waiting.']);
      const secret_step = { executionType: 'internal', execution: { value: 1 } } as const;
      const confirm = { executionType: 'space', resultSchema: { type: 'boolean' } } as const;
      const world = await open({ models: { default: model }, tools: { confirm, secret_step } });
      const { ada, bot, space } = await lobby(world, { tools: ['confirm', 'secret_step'] }, { isIn: true });
      const eve = await world.person('Eve');
      await world.say(space, ada, 'Ask me.');
      await world.idle();
      const { db } = world.store;
      const ids = Object.fromEntries(
        (await db.selectFrom('calls').select(['id', 'tool_name']).execute()).map(({ id, tool_name }) => [
          tool_name,
          id,
        ]),
      );
      const { confirm: asked = '', secret_step: unseen = '' } = ids;
      expect(await getCall(db, asked, { entityId: undefined })).toMatchObject({
        toolName: 'confirm',
        step: 1,
        index: 0,
        status: 'waiting',
        idempotencyKey: asked,
        attempts: 1,
        worker: expect.any(String),
        pending: { status: 'pending' },
        card: { spaceId: space, call: { kind: 'result', resultSchema: { type: 'boolean' } } },
      });
      const [run] = await runsOf(world, bot);
      expect(run?.worker).toBe((await getCall(db, asked, { entityId: undefined })).worker);
      const shown = await getCall(db, asked, { entityId: ada });
      expect(Object.keys(shown).toSorted()).toEqual(['callId', 'card', 'runId', 'toolName']);
      const hidden = [
        [asked, eve],
        [unseen, ada],
        ['none', ada],
      ] as const;
      for (const [callId, entityId] of hidden)
        await expect(getCall(db, callId, { entityId })).rejects.toMatchObject({ code: 'not_found' });
      await answer(world.services, {
        runId: run?.id ?? '',
        callId: asked,
        answer: { result: true },
        by: { entityId: ada },
      });
      expect((await getCall(db, asked, { entityId: undefined })).pending).toMatchObject({
        resolvedBy: ada,
        resolvedByName: 'Ada',
      });
    });

    test('[G1] [G33] a call that no space shows is shown to those who may answer it, without the fields for operators', async () => {
      const world = await open({ models: { default: scriptedModel([calls('sign_off'), 'Asked.', 'Thanks.']) } });
      const [eve, ada] = [await world.person('Eve'), await world.person('Ada')];
      const waits = { executionType: 'external', visible: false, expiresInMs: 1_000_000 };
      const sign_off = {
        name: 'sign_off',
        description: 'Sign it off?',
        inputSchema: { type: 'object' },
        answerers: { entities: [eve] },
      };
      await world.in((tx) => createTool(tx, { ...waits, ...sign_off }, { isTaken: () => false }));
      const agentId = await world.agent('Loner', { tools: ['sign_off'] });
      await world.in((tx) => pushServiceEvent(tx, { agentId, eventId: 'o1', source: 'test', name: 'go' }));
      await world.idle();
      const { db } = world.store;
      const own = db.selectFrom('calls').selectAll().where('tool_name', '=', 'sign_off');
      const { id: callId, run_id: runId } = await own.executeTakeFirstOrThrow();
      const shownTo = async (entityId: string) => await getCall(db, callId, { entityId });
      const told = { callId, runId, toolName: 'sign_off' };
      expect(await shownTo(eve)).toEqual({ ...told, pending: expect.objectContaining({ callId, status: 'pending' }) });
      await expect(shownTo(ada)).rejects.toMatchObject({ code: 'not_found' });
      // A call that was asked in a space from which the agent was removed has no card, and the members may answer it.
      const spaceId = await world.space('Desk', [ada]);
      const ask = (where: { space_id: string | null; answerers: string | null }): Promise<unknown> =>
        world.in((tx) => tx.db.updateTable('calls').set(where).where('id', '=', callId).execute());
      await ask({ space_id: spaceId, answerers: null });
      expect((await shownTo(ada)).pending).toMatchObject({ callId });
      await expect(shownTo(eve)).rejects.toMatchObject({ code: 'not_found' });
      await ask({ space_id: null, answerers: JSON.stringify({ entities: [eve] }) });
      // Also once it has ended.
      const given = { runId, callId, by: { entityId: eve } };
      await answer(world.services, { ...given, answer: { result: 'yes' } });
      const second = answer(world.services, { ...given, answer: { result: 'no' }, by: { key: true } });
      await expect(second).rejects.toMatchObject({ code: 'already_answered' });
      const { pending } = await shownTo(eve);
      expect(pending).toMatchObject({ status: 'resolved', resolvedByName: 'Eve' });
      expect(pending).not.toHaveProperty('lateAnswers');
      expect((await getCall(db, callId, { entityId: undefined })).pending?.lateAnswers).toHaveLength(1);
    });
  },
  databases,
);
