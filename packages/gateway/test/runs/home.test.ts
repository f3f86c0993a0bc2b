import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { redrive } from '../../src/domain/inbox/redrive.ts';
import { firstIdAt, newId } from '../../src/domain/new-id.ts';
import { getHome } from '../../src/domain/runs/home.ts';
import { listRuns } from '../../src/domain/runs/run.ts';
import { usageReport } from '../../src/domain/usage/usage-report.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { databases } from '../support/stores.ts';

test('[S24] the first id of a time sorts before all ids of that time, and after those before it', () => {
  const now = 1_760_000_000_000;
  expect(firstIdAt(now) <= newId(now)).toBe(true);
  expect(newId(now - 1) < firstIdAt(now)).toBe(true);
});

describeWorlds(
  'home',
  (open) => {
    test('[S24] has the active runs, those that failed until they are retried, and figures that equal those of the API', async () => {
      let isBroken = true;
      const letGo = Promise.withResolvers<void>();
      const model = scriptedModel(async (request) => {
        const said = JSON.stringify(request.prompt);
        if (said.includes('Wait')) await letGo.promise;
        return said.includes('Break') && isBroken ? new Error('The model is away.') : 'Done.';
      });
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world, { limits: { maxAttempts: 1 } }, { isIn: true });
      const { db } = world.store;
      const now = () => world.in(async (tx) => tx.now());
      const view = { agents: [bot], spaces: [] };
      const home = async () => await getHome(db, { view, now: await now() });
      await world.say(space, ada, 'Hello');
      await world.idle();
      await world.say(space, ada, 'Break');
      await expect.poll(async () => (await home()).failed.length).toBe(1);
      const { failed, atWork, days } = await home();
      expect(atWork).toEqual([]);
      expect(failed).toMatchObject([
        { status: 'failed', stop: { reason: 'error', error: 'The model is away.' }, trigger: [{ text: 'Break' }] },
      ]);
      const { items: runs } = await listRuns(db, { agentId: bot });
      const [used] = (await usageReport(db, { by: ['day'], view, now: await now() })).items;
      expect(days).toHaveLength(8);
      expect(days[0]).toMatchObject({
        ...{ day: new Date(await now()).toISOString().slice(0, 10), runs: runs.length, failed: 1 },
        ...{ requests: used?.requests, tokens: (used?.inputTokens ?? 0) + (used?.outputTokens ?? 0), cost: used?.cost },
      });
      const lasted = runs.map(({ createdAt, endedAt = 0 }) => endedAt - createdAt).toSorted((a, b) => a - b);
      expect(days[0]).toMatchObject({ medianMs: lasted[1], p95Ms: lasted[1] });
      expect(days[1]).toMatchObject({ runs: 0, failed: 0, requests: 0, cost: 0 });
      expect(days[1]).not.toHaveProperty('medianMs');

      // Trials of a person do not count as work of the agent.
      const fork = (isFork: number) =>
        world.in((tx) => tx.db.updateTable('threads').set({ is_fork: isFork }).where('id', '=', bot).execute());
      await fork(1);
      expect(await home()).toMatchObject({
        failed: [],
        days: [{ runs: 0, failed: 0, requests: used?.requests }, {}, {}, {}, {}, {}, {}, {}],
      });
      await fork(0);

      isBroken = false;
      await world.in((tx) => redrive(tx, { agentId: bot }));
      await world.idle();
      expect((await home()).failed).toEqual([]);
      await world.say(space, ada, 'Wait');
      await expect.poll(async () => (await home()).atWork).toMatchObject([{ status: 'running', agentId: bot }]);
      letGo.resolve();
      await world.idle();
      expect((await home()).atWork).toEqual([]);
    });
  },
  databases,
);
