import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { checkTools } from '../../src/config/registered-tool.ts';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { requestCancel } from '../../src/domain/runs/request-cancel.ts';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { claimNextRun } from '../../src/runtime/claim/next-run.ts';
import { TranscriptCache } from '../../src/runtime/claim/transcript-cache.ts';
import { Scheduler } from '../../src/runtime/scheduler.ts';
import { Worker } from '../../src/runtime/worker.ts';
import { describeWorlds, type OpenWorld } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { resultsOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import { withoutNotices, withoutWakes } from '../support/unheard.ts';
import { waitingOf } from '../support/waiting-of.ts';
import type { World } from '../support/world.ts';

/** A worker loses its thread as if it had died: nothing that it still does is written, and the next worker takes over. */
async function killWorkerOf(world: World, bot: string): Promise<void> {
  await world.store.transaction((tx) =>
    tx.db
      .updateTable('threads')
      .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_owner: null, lease_until: 0 }))
      .where('id', '=', bot)
      .execute(),
  );
}

const cardOf = async (world: World, space: string) => {
  const card = world.store.db.selectFrom('messages').select(['call_id', 'status', 'metadata']);
  return await card.where('space_id', '=', space).where('kind', '=', 'tool').executeTakeFirstOrThrow();
};

const callOf = (world: World, callId: string) =>
  world.store.db.selectFrom('calls').select(['status', 'outcome']).where('id', '=', callId).executeTakeFirstOrThrow();

const endsOf = async (world: World, space: string) =>
  (await world.events(spaceStream(space)))
    .map(({ type }) => type)
    .filter((type) => /^tool-call\.(complete|error|cancelled|expired)$/.test(type));

const paying = (execute: () => unknown = () => 'Paid.', settings: object = { approval: true }) => ({
  tool: tool({ description: 'Pays.', inputSchema: z.object({}), execute, ...settings }),
  visible: true,
});

/** A payment that was begun, whose worker is dead. `settings` of the tool. */
async function begun(open: OpenWorld, settings: object = {}) {
  const inside = Promise.withResolvers<void>();
  let paid = 0;
  const pay = paying(async () => {
    paid++;
    inside.resolve();
    return await new Promise<never>(() => {});
  }, settings);
  const model = scriptedModel((request) => (resultsOf(request).length === 0 ? { toolName: 'pay' } : 'Done.'));
  const models: Record<string, typeof model> = { default: model };
  const limits = { leaseMs: 600, graceMs: 500 };
  const world = await open({ models, tools: { pay }, limits, agentLimits: { maxAttempts: 1 } });
  const { ada, bot, space } = await lobby(world, { tools: ['pay'] }, { isIn: true });
  await world.say(space, ada, 'Pay');
  return { world, models, model, bot, space, inside: inside.promise, paid: () => paid };
}

describeWorlds(
  'a payment that a dead worker had begun',
  (open) => {
    /** The same after an approval, in a later run than the one that requested it. */
    async function approvedAndBegun() {
      const given = await begun(open, { approval: true });
      const { world, bot } = given;
      await world.idle();
      const call = await waitingOf(world, bot);
      await answer(world.services, { ...call, answer: { approve: true }, by: { key: true } });
      await given.inside;
      return { ...given, callId: call.callId };
    }

    test('[G57] [G25] a payment that a dead worker had begun and that was approved is not reported as never run if its agent cannot continue', async () => {
      const { world, models, bot, space, callId, paid } = await approvedAndBegun();
      delete models.default;
      await killWorkerOf(world, bot);
      await world.idle();
      const { status, metadata } = await cardOf(world, space);
      expect(status).toBe('error');
      expect(metadata).not.toMatch(/before it ran|It runs if/);
      expect(metadata).toContain('whether it took effect is unknown');
      expect(await callOf(world, callId)).toEqual({
        status: 'settled',
        outcome: expect.stringContaining('unknown_outcome'),
      });
      expect(await endsOf(world, space)).toEqual(['tool-call.error']);
      expect(paid()).toBe(1);
      // Both the run that asked and the run that was to pay have the end.
      const runs = await world.store.db.selectFrom('runs').select('id').where('thread_id', '=', bot).execute();
      for (const { id } of runs)
        expect((await world.events(`run:${id}`)).filter(({ type }) => type === 'tool-call.error')).toMatchObject([
          { payload: { callId, outcome: { code: 'unknown_outcome' } } },
        ]);
      expect(runs).toHaveLength(2);
    });

    test('[G57] [G25] a payment that a dead worker had begun and that was approved, of a run that was cancelled and cannot continue, has an end too', async () => {
      const { world, models, bot, space, callId } = await approvedAndBegun();
      delete models.default;
      const { id } = await world.store.db
        .selectFrom('runs')
        .select('id')
        .where('thread_id', '=', bot)
        .where('status', '=', 'running')
        .executeTakeFirstOrThrow();
      await withoutNotices(world, () => world.in((tx) => requestCancel(tx, id)));
      await killWorkerOf(world, bot);
      await world.idle();
      expect((await cardOf(world, space)).status).toBe('error');
      expect((await callOf(world, callId)).status).toBe('settled');
    });

    test.each([
      ['goes on', true],
      ['cannot go on', false],
    ])(
      '[G57] [G25] a payment that was approved and had not begun, of a run that was cancelled and %s, did not run, and its card ends',
      async (_what, canGoOn) => {
        const { world, models, bot, space, paid } = await begun(open, { approval: true });
        await world.idle();
        const call = await waitingOf(world, bot);
        // The worker that consumes the answer dies before it does anything.
        await world.worker.stop();
        await withoutWakes(world, () =>
          answer(world.services, { ...call, answer: { approve: true }, by: { key: true } }),
        );
        const tools = checkTools({ pay: paying() }, ['tools']);
        if (!tools.ok) throw new Error('The tools are wrong.');
        const model = (): (typeof models)[string] => {
          if (models.default === undefined) throw new Error('There is no model.');
          return models.default;
        };
        const registry = { tools: tools.value, model, agentLimits: { maxAttempts: 1 } };
        const transcriptCache = new TranscriptCache();
        const taken = await claimNextRun(world.services, registry, bot, {
          owner: 'dead',
          isUrgent: false,
          transcriptCache,
        });
        if (taken === undefined) throw new Error('Nothing was taken.');
        if (!canGoOn) delete models.default;
        await world.store.transaction((tx) => requestCancel(tx, taken.run.runId));
        await killWorkerOf(world, bot);
        const next = new Worker(world.services, registry, new Scheduler({ slots: 1 }));
        await next.start({ sweeps: [] });
        await world.idle();
        await next.stop();
        expect((await cardOf(world, space)).status).toMatch(/cancelled|error/);
        expect(await callOf(world, call.callId)).toEqual({
          status: 'settled',
          outcome: expect.not.stringContaining('unknown'),
        });
        expect(paid()).toBe(0);
      },
    );

    test('[G64] a payment that had begun and has no card gets one from the worker that takes it over, in the space where the agent was', async () => {
      const { world, bot, space, inside, paid } = await begun(open);
      await inside;
      // Older versions wrote the card in a transaction after the start, so a process could die between the two.
      await world.in((tx) =>
        tx.db.deleteFrom('messages').where('space_id', '=', space).where('kind', '=', 'tool').execute(),
      );
      await killWorkerOf(world, bot);
      await world.idle();
      const cards = world.store.db.selectFrom('messages').select(['status', 'metadata']).where('space_id', '=', space);
      expect(await cards.where('kind', '=', 'tool').execute()).toEqual([
        { status: 'error', metadata: expect.stringContaining('may have taken effect') },
      ]);
      expect(await endsOf(world, space)).toEqual(['tool-call.error']);
      expect(paid()).toBe(1);
    });

    test.each([
      ['is idempotent', { idempotent: true }],
      ['is not idempotent', {}],
    ])(
      '[G57] [G16] a payment that a dead worker had begun and that %s, of a run that was cancelled meanwhile, has the known outcome',
      async (_what, settings) => {
        const { world, bot, space, inside, paid } = await begun(open, settings);
        await inside;
        const runs = world.store.db.selectFrom('runs').select(['id', 'status']).where('thread_id', '=', bot);
        const { id } = await runs.executeTakeFirstOrThrow();
        await killWorkerOf(world, bot);
        await withoutNotices(world, () => world.in((tx) => requestCancel(tx, id)));
        await world.idle();
        expect(await runs.execute()).toEqual([{ id, status: 'cancelled' }]);
        const { call_id: callId, status, metadata } = await cardOf(world, space);
        expect(status).toBe('error');
        expect(metadata).toContain('may have taken effect');
        expect((await callOf(world, callId ?? '')).outcome).toContain('unknown_outcome');
        expect(await endsOf(world, space)).toEqual(['tool-call.error']);
        expect(paid()).toBe(1);
      },
    );
  },
  databases,
);
