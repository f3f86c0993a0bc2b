import { LastcallError } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { pauseAgent } from '../../src/domain/agents/pause-agent.ts';
import { retryInvalidAgents } from '../../src/start/retry-invalid.ts';
import { describeIdleWorld, describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';

describeIdleWorld('agents that cannot work', ({ world }) => {
  const set = (id: string, status: 'invalid' | 'paused') =>
    world.in((tx) => tx.db.updateTable('agents').set({ status }).where('id', '=', id).execute());
  const statusOf = async (id: string) =>
    (await world.store.db.selectFrom('agents').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status;

  test('[A20] a start lets them try again, and does not change those that are paused', async () => {
    const [broken, paused] = [await world.agent('Broken'), await world.agent('Paused')];
    await set(broken, 'invalid');
    await world.in((tx) => pauseAgent(tx, paused));
    await retryInvalidAgents(world.services);
    expect([await statusOf(broken), await statusOf(paused)]).toEqual(['active', 'paused']);
  });
});

describeWorlds(
  'an agent that is found to be invalid',
  (open) => {
    test('[A20] stays paused if it was paused meanwhile: the next start must not resume it', async () => {
      const at: { world?: World; bot?: string } = {};
      const model = scriptedModel(async () => {
        await at.world?.in((tx) => pauseAgent(tx, at.bot ?? ''));
        throw new LastcallError('slice_version', 'The slice is of another version.');
      });
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world);
      Object.assign(at, { world, bot });
      await world.say(space, ada, 'Go');
      const agent = world.store.db.selectFrom('agents').select(['status', 'last_error']).where('id', '=', bot);
      await expect.poll(async () => (await agent.executeTakeFirst())?.last_error).toContain('another version');
      expect((await agent.executeTakeFirst())?.status).toBe('paused');
      expect(await world.inbox(bot)).toHaveLength(1);
    });
  },
  databases,
);
