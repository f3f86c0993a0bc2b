import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { pushServiceEvent } from '../../src/domain/inbox/push-service-event.ts';
import { reserveUsage } from '../../src/domain/usage/count-usage.ts';
import { toJson } from '../../src/ports/store/schema/json.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { claimNextRun } from '../../src/runtime/claim/next-run.ts';
import { TranscriptCache } from '../../src/runtime/claim/transcript-cache.ts';
import { findRunnableThreads } from '../../src/runtime/find-runnable-threads.ts';
import { Scheduler } from '../../src/runtime/scheduler.ts';
import { Worker } from '../../src/runtime/worker.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { lobby } from '../support/lobby.ts';
import { databases } from '../support/stores.ts';
import { openWorld, type World } from '../support/world.ts';

const USAGE = { inputTokens: 7, outputTokens: 3, totalTokens: 10 };

describe.each(databases)('a worker on $kind', ({ create }) => {
  const database = forAllTests(create);

  test('[G56] a worker finds threads that sleep although they have work, even if other sweeps hang or fail', async () => {
    const world = await openWorld({ database, models: { default: scriptedModel(() => 'Done.') } });
    const { bot } = await lobby(world);
    const hanging = Promise.withResolvers<void>();
    let swept = 0;
    const sweeps = [
      () => hanging.promise,
      async () => {
        swept += 1;
        throw new Error('cannot sweep');
      },
    ];
    await world.worker.start({ sweeps });
    await pushWithoutWake(world, bot);
    await world.idle();
    await expect.poll(() => swept).toBeGreaterThan(1);
    hanging.resolve();
    await world.stop();
  });

  test('[G16] a worker ends a cancelled run even without a notice', async () => {
    const inside = Promise.withResolvers<void>();
    const slow = tool({
      description: 'Takes its time.',
      inputSchema: z.object({}),
      async execute(_input, { abortSignal }) {
        inside.resolve();
        await new Promise((resolve) => abortSignal.addEventListener('abort', resolve));
      },
    });
    const model = scriptedModel((_request, invocation) => (invocation === 1 ? [{ toolName: 'slow' }] : 'Done.'));
    const tools = { slow: { tool: slow, visible: false } };
    const world = await openWorld({ database, models: { default: model }, tools, limits: { leaseMs: 600 } });
    await world.start();
    const { ada, bot, space } = await lobby(world, { tools: ['slow'] });
    await world.say(space, ada, 'Go');
    await inside.promise;
    const cancelled = { cancel_requested_at: Date.now() };
    await world.store.transaction(({ db }) =>
      db.updateTable('runs').set(cancelled).where('thread_id', '=', bot).execute(),
    );
    await world.idle();
    const runs = await world.store.db.selectFrom('runs').select('status').where('thread_id', '=', bot).execute();
    expect(runs).toEqual([{ status: 'cancelled' }]);
    await world.stop();
  });

  describe('a run that a worker takes over', () => {
    /** A worker that has claimed the thread of a dead one. The transaction that reads its run begins when `gate` opens. */
    async function takingOver({ prepare }: { prepare?: (world: World, bot: string) => Promise<unknown> } = {}) {
      const models = { default: scriptedModel(() => 'Done.') };
      const world = await openWorld({ database, models, limits: { leaseMs: 300 } });
      const { ada, bot, space } = await lobby(world, {}, { isIn: true });
      await world.say(space, ada, 'Go');
      const dead = { owner: 'dead', isUrgent: false, transcriptCache: new TranscriptCache() };
      expect(await claimNextRun(world.services, world.registry, bot, dead)).toBeDefined();
      await prepare?.(world, bot);
      const [claiming, claimed, reading, gate] = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
      const { store } = world;
      let isTaken = false;
      const slow: Store['transaction'] = async (work, options) => {
        if (isTaken) {
          isTaken = false;
          reading?.resolve();
          await gate?.promise;
        }
        const value = await store.transaction(work, options);
        isTaken = options?.group?.kind === 'claim' && value !== undefined;
        if (isTaken) {
          claiming?.resolve();
          await claimed?.promise;
        }
        return value;
      };
      const services = { ...world.services, store: { ...store, transaction: slow } };
      const worker = new Worker(services, world.registry, new Scheduler({ slots: 1 }));
      await worker.start({ sweeps: [] });
      const thread = async () =>
        await store.db
          .selectFrom('threads')
          .select(['lease_owner', 'lease_until'])
          .where('id', '=', bot)
          .executeTakeFirstOrThrow();
      const run = async () =>
        await store.db
          .selectFrom('runs')
          .select(['status', 'attempts', 'takeovers'])
          .where('thread_id', '=', bot)
          .executeTakeFirstOrThrow();
      await claiming?.promise;
      return { world, bot, worker, claimed, reading, gate, thread, run };
    }

    test('[G56] keeps its lease while the worker reads it', async () => {
      const { world, worker, claimed, reading, gate, thread, run } = await takingOver();
      claimed?.resolve();
      await reading?.promise;
      const { lease_until: first } = await thread();
      await expect.poll(async () => (await thread()).lease_until).toBeGreaterThan(first + 300);
      expect(worker.busy).toBe(1);
      gate?.resolve();
      await expect
        .poll(run)
        .toMatchObject({ status: 'completed', takeovers: expect.stringContaining('"from":"dead"') });
      await expect.poll(() => worker.busy).toBe(0);
      await worker.stop();
      await world.stop();
    });

    test('[K12] counts what the dead worker had reserved for a request, before the run ends', async () => {
      const { world, worker, claimed, gate, run } = await takingOver({
        prepare: async ({ store, in: within }, bot) => {
          const runs = store.db.selectFrom('runs').select('id').where('thread_id', '=', bot);
          const { id: runId } = await runs.executeTakeFirstOrThrow();
          const asked = { id: 'lost', kind: 'turn', model: 'm', usage: USAGE, requests: 1 } as const;
          await within(async (tx) => reserveUsage(tx, { runId, agentId: bot, entityId: '' }, asked, { prices: {} }));
        },
      });
      const counted = world.store.db.selectFrom('usage_requests').select(['reserved', 'estimated']);
      const row = await counted.where('id', '=', 'lost').executeTakeFirst();
      claimed?.resolve();
      gate?.resolve();
      await expect.poll(run).toMatchObject({ status: 'completed' });
      expect(row).toEqual({ reserved: 0, estimated: 1 });
      await worker.stop();
      await world.stop();
    });

    test('[G42] is left to others if the worker stops before it reads it', async () => {
      const { world, bot, worker, claimed, gate, thread, run } = await takingOver();
      const known = world.wakes.length;
      gate?.resolve();
      const stopping = worker.stop();
      claimed?.resolve();
      await stopping;
      const woken = world.wakes.slice(known);
      expect(await thread()).toMatchObject({ lease_owner: null });
      // Another worker learns of it at once.
      expect(woken).toEqual([bot]);
      // The takeover that follows does not count.
      expect(await run()).toMatchObject({ status: 'running', attempts: 0 });
      await world.stop();
    });
  });

  test('an agent that was asleep gets its run before the backlog of a busy one', async () => {
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const model = scriptedModel(async (_request, invocation) => {
      if (invocation === 1) begun.resolve();
      await gate.promise;
      return 'Done.';
    });
    const limits = { limits: { runs: 1 }, agentLimits: { eventsPerCycle: 1 } };
    const world = await openWorld({ database, models: { default: model }, ...limits });
    await world.start();
    const [busy, idle] = [await lobby(world), await lobby(world)];
    for (const text of ['One', 'Two', 'Three']) await world.say(busy.space, busy.ada, text);
    await begun.promise;
    await world.say(idle.space, idle.ada, 'Hi');
    // The wake is delivered with the next turn of the event loop.
    await new Promise(setImmediate);
    gate.resolve();
    await world.idle();
    const started = world.told.filter(({ type }) => type === 'run.start').map(({ payload }) => payload);
    expect(started).toMatchObject([busy, idle, busy, busy].map(({ bot }) => ({ agentId: bot })));
    await world.stop();
  });

  test('[G42] a worker that stops while it takes a thread leaves it free for others', async () => {
    const world = await openWorld({ database, models: { default: scriptedModel(() => 'Done.') } });
    await world.start();
    const { bot } = await lobby(world);
    const [held, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = world.store.transaction(async (tx) => {
      await tx.db.updateTable('threads').set({ lease_until: 0 }).where('id', '=', bot).execute();
      held.resolve();
      await gate.promise;
    });
    await held.promise;
    world.scheduler.enqueue(bot);
    // The claim has begun, and waits for the row.
    await new Promise(setImmediate);
    const stopping = world.worker.stop();
    gate.resolve();
    await Promise.all([holding, stopping]);
    const thread = await world.store.db
      .selectFrom('threads')
      .select(['lease_owner', 'epoch'])
      .where('id', '=', bot)
      .executeTakeFirstOrThrow();
    expect(thread).toEqual({ lease_owner: null, epoch: 1 });
    await world.stop();
  });

  test('a thread that waits for a slot goes first once a sweep finds that a person waits for it', async () => {
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const order: string[] = [];
    const noting = (name: string) =>
      scriptedModel(() => {
        order.push(name);
        return 'Done.';
      });
    const blocking = scriptedModel(async () => {
      asked.resolve();
      await gate.promise;
      return 'Done.';
    });
    const models = { blocking, one: noting('one'), two: noting('two') };
    const world = await openWorld({ database, models, limits: { runs: 1 } });
    const [busy, one, two] = [
      await world.agent('Busy', { model: 'blocking' }),
      await world.agent('One', { model: 'one' }),
      await world.agent('Two', { model: 'two' }),
    ];
    let swept = 0;
    const sweep = async (): Promise<void> => {
      // The query of the worker's own sweep while it has too much to do.
      const found = await findRunnableThreads(world.store, { waitedMs: 3 * world.services.limits.sweepMs });
      if (found.some(({ threadId, isUrgent }) => threadId === two && isUrgent)) swept += 1;
    };
    await world.worker.start({ sweeps: [sweep] });
    const push = (agentId: string) => world.in((tx) => pushServiceEvent(tx, { agentId, source: 's', name: 'n' }));
    await push(busy);
    await asked.promise;
    for (const agentId of [one, two]) await push(agentId);
    // Like a message of a gateway that died right after storing it.
    await pushWithoutWake(world, two, { priority: 0 });
    // Both sweep on separate timers, and a busy worker looks for lost wakes at every fifth sweep.
    await expect.poll(() => swept, { timeout: 30_000 }).toBeGreaterThan(24);
    gate.resolve();
    await world.idle();
    expect(order).toEqual(['two', 'one']);
    await world.stop();
  });
});

async function pushWithoutWake({ store }: World, agentId: string, { priority = 1 } = {}): Promise<void> {
  const now = Date.now();
  const event = { type: 'service', source: 'test', name: 'lost', data: null } as const;
  await store.transaction(({ db }) =>
    db
      .insertInto('inbox_events')
      .values({
        thread_id: agentId,
        event_id: 'lost',
        type: 'service',
        priority,
        payload: toJson(event),
        status: 'pending',
        attempts: 0,
        available_at: now,
        run_id: null,
        error: null,
        created_at: now,
      })
      .execute(),
  );
}
