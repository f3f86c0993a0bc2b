import { expect, test } from 'vitest';
import { getRunDetails } from '../../src/domain/runs/run-details.ts';
import { chatWith } from '../support/conversations.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';
import { fork } from './forking.ts';
import { countingDesk, deskModel, endsOfMachine, requestsOfMachine, storedOf, usualDay } from './machine-desk.ts';

async function stopOf({ store }: World, runId: string): Promise<unknown> {
  const run = await getRunDetails(store.db, runId);
  return { status: run.status, ...run.stop, response: run.response };
}

describeWorlds(
  'forks of machines',
  (open) => {
    test('[E1] [E2] a fork at any step without changes has the requests and outcomes of the original, also in the middle of parallel work', async () => {
      const { ran, definitions } = countingDesk();
      const world = await open({ models: { default: deskModel(usualDay) }, definitions });
      const chat = await chatWith(world, { definition: 'desk' });
      const { runId } = await chat.say('Pay 1, order 5 twice, and close.');
      expect(await stopOf(world, runId)).toMatchObject({ status: 'completed', response: 'Closed.' });
      expect(ran).toEqual({ pay: 1, order: 2, look: 3, close: 1, audit: 0 });
      const before = await storedOf(world, chat.contextId);
      const requests = await requestsOfMachine(world, runId);
      expect(requests).toHaveLength(8);
      for (let atStep = 1; atStep <= requests.length; atStep++) {
        const forked = await fork(world, runId, { atStep });
        expect(await stopOf(world, forked.runId), `at ${atStep}`).toMatchObject({ status: 'completed', response: 'Closed.' });
        expect(await requestsOfMachine(world, forked.runId), `at ${atStep}`).toEqual(requests);
        expect(await endsOfMachine(world, forked.runId), `at ${atStep}`).toEqual(await endsOfMachine(world, runId));
      }
      expect(ran).toEqual({ pay: 1, order: 2, look: 3, close: 1, audit: 0 });
      expect(await storedOf(world, chat.contextId)).toEqual(before);
    });
  },
  databases,
);
