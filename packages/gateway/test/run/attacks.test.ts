import { setTimeout as sleep } from 'node:timers/promises';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { pushEvent } from '../../src/domain/inbox/push-event.ts';
import { removeMember } from '../../src/domain/spaces/membership.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { StoreUnavailable } from '../../src/ports/store/store-error.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { lobby } from '../support/lobby.ts';
import { isFirstStep, resultsOf, textsOf } from '../support/requests.ts';
import { databases, onPostgres } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';

const simple = (execute: () => unknown, more: object = {}) =>
  tool({ description: 'Does.', inputSchema: z.object({}), execute, ...more });

describe.each(databases)('attacks on a run on $kind', ({ create }) => {
  const database = forAllTests(create);

  test('a call that succeeded is not in doubt if the turn failed right after it', async () => {
    const world = await openWorld({
      database,
      models: { default: scriptedModel(() => ({ toolName: 'pay' })) },
      tools: { pay: { tool: simple(() => 'paid'), visible: false } },
      agentLimits: { maxAttempts: 1 },
    });
    await world.start();
    const terminating = { toolIds: ['send_message'], maxInvocations: 1 };
    const { ada, space } = await lobby(world, { tools: ['pay'], terminating }, { isIn: true });
    await world.say(space, ada, 'Pay');
    await world.idle();
    const calls = await world.store.db.selectFrom('calls').selectAll().where('tool_name', '=', 'pay').execute();
    await world.stop();
    expect(calls.map(({ outcome }) => JSON.parse(outcome ?? 'null'))).toMatchObject([{ status: 'ok', value: 'paid' }]);
  });

  test('a call that succeeded is not in doubt if the write of another call is refused', async () => {
    let [isPaid, runs] = [false, 0];
    let remove: (() => Promise<void>) | undefined;
    const racing = (store: Store): Store => ({
      ...store,
      async transaction(work, options) {
        if (isPaid && remove !== undefined) {
          const now = remove;
          remove = undefined;
          await now();
        }
        return await store.transaction(work, options);
      },
    });
    const model = scriptedModel((request) =>
      resultsOf(request).length === 0
        ? [{ toolName: 'charge' }, { toolName: 'send_message', input: { text: 'Hi' } }]
        : 'Done.',
    );
    const charge = simple(() => {
      runs++;
      isPaid = true;
      return 'charged';
    });
    let raw: Store | undefined;
    const world = await openWorld({
      database: {
        ...database,
        open: async (parts) => {
          raw = await database.open(parts);
          return racing(raw);
        },
      },
      models: { default: model },
      tools: { charge: { tool: charge, visible: false } },
    });
    await world.start();
    const { ada, bot, space } = await lobby(world, { tools: ['charge'] }, { isIn: true });
    remove = async () => {
      // The removal comes when the message is about to be written; the tool itself still found the agent in the space.
      await raw?.transaction((tx) => removeMember(tx, { spaceId: space, entityId: bot }));
    };
    await world.say(space, ada, 'Charge');
    await world.idle();
    const calls = await world.store.db.selectFrom('calls').selectAll().where('tool_name', '=', 'charge').execute();
    await world.stop();
    expect(runs).toBe(1);
    expect(calls.map(({ outcome }) => JSON.parse(outcome ?? 'null'))).toMatchObject([
      { status: 'ok', value: 'charged' },
    ]);
  });

  test('the result of a call is stored unchanged, even if the next call mutates it', async () => {
    const log: number[] = [];
    const add = simple(
      () => {
        log.push(log.length + 1);
        return log;
      },
      { effects: 'session' },
    );
    const model = scriptedModel((request) =>
      resultsOf(request).length === 0 ? [{ toolName: 'add' }, { toolName: 'add' }] : 'Done.',
    );
    const world = await openWorld({
      database,
      models: { default: model },
      tools: { add: { tool: add, visible: false } },
    });
    await world.start();
    const { ada, space } = await lobby(world, { tools: ['add'] }, { isIn: true });
    await world.say(space, ada, 'Add');
    await world.idle();
    const calls = await world.store.db
      .selectFrom('calls')
      .selectAll()
      .where('tool_name', '=', 'add')
      .orderBy('index')
      .execute();
    await world.stop();
    expect(calls.map(({ outcome }) => JSON.parse(outcome ?? 'null').text)).toEqual(['[1]', '[1,2]']);
    expect(calls.map(({ outcome }) => JSON.parse(outcome ?? 'null').value)).toEqual([[1], [1, 2]]);
  });

  test('a tool that mutates its messages does not change later runs', async () => {
    const heard: string[][] = [];
    const spoil = tool({
      description: 'Spoils.',
      inputSchema: z.object({}),
      effects: 'none',
      execute(_input: unknown, ctx) {
        for (const message of ctx.messages) {
          if (message.role !== 'user') continue;
          for (const part of message.content) if (part.type === 'text') (part as { text: string }).text = 'SPOILED';
        }
        return 'ok';
      },
    });
    const model = scriptedModel((request) => {
      heard.push(textsOf(request.prompt));
      return isFirstStep(request) ? { toolName: 'spoil' } : 'Done.';
    });
    const world = await openWorld({
      database,
      models: { default: model },
      tools: { spoil: { tool: spoil, visible: false } },
    });
    await world.start();
    const { ada, space } = await lobby(world, { tools: ['spoil'] }, { isIn: true });
    for (const text of ['One', 'Two', 'Three']) {
      await world.say(space, ada, text);
      await world.idle();
    }
    await world.stop();
    // The first request of the third run.
    const third = heard.findLast((texts) => texts.some((text) => text.includes('"Three"'))) ?? [];
    expect(third.filter((text) => text.includes('SPOILED'))).toEqual([]);
  });

  test('a message of a person goes ahead even while the thread is being claimed', async () => {
    const heard: string[] = [];
    let heardBefore = 0;
    let armed: (() => Promise<void>) | undefined;
    const busy = (store: Store): Store => ({
      ...store,
      isBusy: true,
      async transaction(work, options) {
        const then = armed;
        armed = undefined;
        const value = await store.transaction(work, options);
        await then?.();
        return value;
      },
    });
    const model = scriptedModel(({ prompt }) => {
      const texts = textsOf(prompt);
      heard.push(texts.some((text) => text.includes('Urgent')) ? 'urgent' : 'other');
      return 'Done.';
    });
    const world = await openWorld({
      database: { ...database, open: async (parts) => busy(await database.open(parts)) },
      models: { default: model },
      limits: { sweepMs: 600_000 },
    });
    await world.start();
    const { ada, bot, space } = await lobby(world);
    const others = await Promise.all(Array.from({ length: 30 }, (_, index) => world.agent(`Other${index}`)));
    // All at once: on a slow machine most of those that arrive one by one would be done before the last.
    const push = (...agents: readonly string[]) =>
      world.store.transaction(async (tx) => {
        for (const agentId of agents) {
          const event = { type: 'service', name: 'x', payload: {} } as never;
          await pushEvent(tx, { threadId: agentId, eventId: `e-${agentId}`, event });
        }
      });
    await push(bot);
    // From here on the next transaction is the one that takes the bot's thread.
    armed = async () => {
      await push(...others);
      await world.say(space, ada, 'Urgent');
      heardBefore = heard.length;
      await sleep(10);
    };
    await world.idle();
    await world.stop();
    // One starts every 20 ms, however busy the store is, so some may go before, but not all that were queued.
    expect(heard.indexOf('urgent') - heardBefore).toBeLessThan(others.length - heardBefore);
  });

  test('[G9] only the worker that holds a thread runs it, also after an end that was in doubt', async () => {
    let isLast = false;
    const cutting = (store: Store): Store => ({
      ...store,
      async transaction(work, options) {
        const value = await store.transaction(work, options);
        if (!isLast) return value;
        const open = await store.db.selectFrom('runs').select('id').where('status', '=', 'running').execute();
        if (open.length > 0) return value;
        isLast = false;
        setTimeout(() => void world.say(space, ada, 'Two'), 10);
        throw new StoreUnavailable(new Error('cut'), { inDoubt: true });
      },
    });
    const owners: (string | null)[] = [];
    const model = scriptedModel(async (request, invocation) => {
      if (invocation === 1) isLast = true;
      const row = await world.store.db
        .selectFrom('threads')
        .select('lease_owner')
        .where('id', '=', bot)
        .executeTakeFirst();
      owners.push(row?.lease_owner ?? null);
      if (invocation === 1) return 'Done.';
      return resultsOf(request).length === 0 ? { toolName: 'slow' } : 'Done.';
    });
    const slow = simple(async () => {
      await sleep(600);
      return 'slowly';
    });
    const world = await openWorld({
      database: { ...database, open: async (parts) => cutting(await database.open(parts)) },
      models: { default: model },
      tools: { slow: { tool: slow, visible: false } },
      limits: { retryMs: 200, leaseMs: 900, sweepMs: 600_000 },
    });
    await world.start();
    const { ada, bot, space } = await lobby(world, { tools: ['slow'] });
    await world.say(space, ada, 'One');
    await expect.poll(() => owners.length).toBeGreaterThan(1);
    await world.idle();
    const calls = await world.store.db.selectFrom('calls').selectAll().where('tool_name', '=', 'slow').execute();
    await world.stop();
    expect.soft(owners.slice(0, 2)).toEqual([expect.any(String), expect.any(String)]);
    expect.soft(calls.map(({ outcome }) => JSON.parse(outcome ?? 'null'))).toMatchObject([{ status: 'ok' }]);
  });
});

describe.each([onPostgres])('attacks on a run of two gateways', ({ create }) => {
  test('[G9] an event that arrives through another gateway while the thread is released is handled', async () => {
    let isLast = false;
    const own = await create();
    const heard: string[] = [];
    const model = scriptedModel(({ prompt }, invocation) => {
      heard.push(textsOf(prompt).some((text) => text.includes('Ada: Two')) ? 'two' : 'one');
      isLast = invocation === 1;
      return 'Done.';
    });
    /** Delays the commit of the transaction that releases the thread. */
    const slow = (store: Store): Store => ({
      ...store,
      transaction: (work, options) =>
        store.transaction(async (tx) => {
          const value = await work(tx);
          if (isLast)
            tx.beforeCommit(async () => {
              const row = await tx.db
                .selectFrom('threads')
                .select('lease_owner')
                .where('id', '=', bot)
                .executeTakeFirst();
              if (row?.lease_owner !== null) return;
              isLast = false;
              await new Promise<void>((resolve) => outside.push(resolve));
            });
          return value;
        }, options),
    });
    const outside: (() => void)[] = [];
    const limits = { sweepMs: 600_000 };
    const one = await openWorld({
      database: { ...own, open: async (parts) => slow(await own.open(parts)) },
      models: { default: model },
      limits,
    });
    const two = await openWorld({ database: own, models: { default: model }, limits });
    const { ada, bot, space } = await lobby(one);
    await one.start();
    await two.start();
    await one.say(space, ada, 'One');
    await expect.poll(() => outside.length, { timeout: 30_000 }).toBe(1);
    await two.say(space, ada, 'Two');
    await sleep(100);
    outside[0]?.();
    await expect.poll(() => heard, { timeout: 30_000 }).toEqual(['one', 'two']);
    await one.stop();
    await two.stop();
    await own.remove();
  });
});
