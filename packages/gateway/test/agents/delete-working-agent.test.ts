// An agent that is deleted while a visible call of its run is under way.
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { deleteAgent } from '../../src/domain/agents/delete-agent.ts';
import { getCall } from '../../src/domain/runs/call-details.ts';
import { listMessages } from '../../src/domain/spaces/list-messages.ts';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { resultsOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';

/** The next worker finds the run of a dead one with its next search. */
async function untilEnded({ store }: World, bot: string): Promise<void> {
  const runs = store.db.selectFrom('runs').select('status').where('thread_id', '=', bot);
  await expect.poll(() => runs.execute(), { timeout: 10_000 }).toEqual([{ status: 'cancelled' }]);
}

describeWorlds(
  'the card of a call that had started when its agent was deleted',
  (open) => {
    /** The agent is deleted while it pays. */
    async function deletedWhilePaying({ isDead = false } = {}) {
      const inside = Promise.withResolvers<void>();
      const pay = tool({
        description: 'Pays.',
        inputSchema: z.object({}),
        execute: async () => {
          inside.resolve();
          return await new Promise<never>(() => {});
        },
      });
      const model = scriptedModel((request) => (resultsOf(request).length === 0 ? { toolName: 'pay' } : 'Done.'));
      const world = await open({ models: { default: model }, tools: { pay }, limits: { leaseMs: 600, graceMs: 500 } });
      const { ada, bot, space } = await lobby(world, { tools: ['pay'] }, { isIn: true });
      await world.say(space, ada, 'Pay');
      await inside.promise;
      // Its worker loses the thread as if it had died.
      if (isDead)
        await world.in(({ db }) =>
          db
            .updateTable('threads')
            .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_owner: null, lease_until: 0 }))
            .where('id', '=', bot)
            .execute(),
        );
      await world.in((tx) => deleteAgent(tx, bot));
      await untilEnded(world, bot);
      const { items } = await listMessages(world.store.db, { spaceId: space });
      const card = items.find(({ kind }) => kind === 'tool');
      const ends = (await world.events(spaceStream(space))).filter(({ type }) => type.startsWith('tool-call.'));
      return {
        card,
        call: await getCall(world.store.db, card?.callId ?? '', { entityId: undefined }),
        types: ends.map(({ type }) => type),
      };
    }

    test('[G17] [G57] says what its call says, that the outcome is unknown, and not that it was cancelled', async () => {
      const { card, call, types } = await deletedWhilePaying();
      expect(call).toMatchObject({ status: 'unknown' });
      expect(card).toMatchObject({ status: 'error', metadata: { callStatus: 'unknown' } });
      expect(types).toEqual(['tool-call.start', 'tool-call.error']);
    });

    test('[G41] [G57] says so too if the worker of the run had died', async () => {
      const { card, call, types } = await deletedWhilePaying({ isDead: true });
      expect(call).toMatchObject({ status: 'unknown' });
      expect(card).toMatchObject({ status: 'error', metadata: { callStatus: 'unknown' } });
      expect(types.at(-1)).toBe('tool-call.error');
      expect(types).not.toContain('tool-call.cancelled');
    });
  },
  databases,
);
