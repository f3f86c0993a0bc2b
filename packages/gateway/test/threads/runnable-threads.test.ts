import { scriptedModel } from '@lastcall/core/testing';
import type { Insertable } from 'kysely';
import { expect, test } from 'vitest';
import { pushServiceEvent } from '../../src/domain/inbox/push-service-event.ts';
import { setPlans } from '../../src/domain/plans/plans.ts';
import type { Tables } from '../../src/ports/store/schema/tables.ts';
import { findRunnableThreads } from '../../src/runtime/find-runnable-threads.ts';
import { describeIdleWorld, describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { databases } from '../support/stores.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;

describeIdleWorld('threads with work', ({ world }) => {
  test('are found by a sweep, or with an option only if their events have waited for long', async () => {
    const bot = await world.agent();
    await world.in((tx) => pushServiceEvent(tx, { agentId: bot, source: 's', name: 'n' }));
    const isFound = async (waitedMs: number | undefined): Promise<boolean> =>
      (await findRunnableThreads(world.store, { waitedMs })).some(({ threadId }) => threadId === bot);
    expect(await isFound(0)).toBe(true);
    expect(await isFound(60_000)).toBe(false);
    const longAgo = { available_at: Date.now() - 120_000 };
    await world.in((tx) => tx.db.updateTable('inbox_events').set(longAgo).where('thread_id', '=', bot).execute());
    expect(await isFound(60_000)).toBe(true);
    // A worker with enough to do does not look for events at all.
    expect(await isFound(undefined)).toBe(false);
  });

  test('[G56] are not found while their worker renews its lease, and are found once it has expired', async () => {
    const [waits, runs] = [await world.agent('Waits'), await world.agent('Runs')];
    await world.in((tx) => pushServiceEvent(tx, { agentId: waits, source: 's', name: 'n' }));
    await world.in((tx) => tx.db.insertInto('runs').values(openRun(runs)).execute());
    const found = async (lease_until: number): Promise<readonly string[]> => {
      const held = { lease_owner: 'somebody', lease_until };
      await world.in((tx) => tx.db.updateTable('threads').set(held).where('id', 'in', [waits, runs]).execute());
      return (await findRunnableThreads(world.store))
        .map(({ threadId }) => threadId)
        .filter((id) => id === waits || id === runs)
        .sort();
    };
    expect(await found(Date.now() + 60_000)).toEqual([]);
    expect(await found(Date.now() - 60_000)).toEqual([waits, runs].sort());
    const abandoned = (await findRunnableThreads(world.store)).filter(({ isAbandoned }) => isAbandoned);
    expect(abandoned).toEqual([{ threadId: runs, isUrgent: false, isAbandoned: true }]);
  });
});

describeWorlds(
  'sleeping agents',
  (open) => {
    test('[G44] cost only rows: no timer, no wake and no memory, however many have plans', async () => {
      const world = await open({ models: { default: scriptedModel(() => 'Done.') } });
      await lobby(world);
      const plan = { name: 'Later', instruction: 'Wake up', at: Date.now() + 3_600_000 };
      const first = await world.agent('First');
      await world.store.transaction((tx) => setPlans(tx, first, [plan]));
      const before = timers();
      for (let count = 0; count < 40; count++) {
        const agent = await world.agent(`Sleeper ${count}`);
        await world.store.transaction((tx) => setPlans(tx, agent, [{ ...plan, at: plan.at + count }]));
      }
      // Connections of the store have at most one timer each.
      expect(timers()).toBeLessThan(before + 20);
      expect(world.worker.busy).toBe(0);
      expect(await findRunnableThreads(world.store)).toEqual([]);
    });
  },
  databases,
);

function openRun(threadId: string): Insertable<Tables['runs']> {
  return {
    id: `run of ${threadId}`,
    thread_id: threadId,
    turn_id: `run of ${threadId}`,
    trigger: '[]',
    status: 'running',
    number: 1,
    epoch: 1,
    config_version: 1,
    attempts: 1,
    taken_seq: 1,
    created_at: Date.now(),
  } as Insertable<Tables['runs']>;
}
