import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../src/ports/store/store.ts';
import { StoreUnavailable } from '../../src/ports/store/store-error.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { lobby } from '../support/lobby.ts';
import { resultsOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';

describe.each(databases)('a store that is unavailable for a moment, on $kind,', ({ create }) => {
  const database = forAllTests(create);

  test('[G43] does not lose the result of a tool that may run only once, and the call is not in doubt', async () => {
    let [refusals, runs] = [0, 0];
    const failing = (store: Store): Store => ({
      ...store,
      transaction: (work) =>
        refusals-- > 0 ? Promise.reject(new StoreUnavailable(new Error('away'))) : store.transaction(work),
    });
    const pay = tool({
      description: 'Pays.',
      inputSchema: z.object({}),
      execute() {
        runs += 1;
        refusals = 3;
        return 'paid';
      },
    });
    const model = scriptedModel((request) => (resultsOf(request).length === 0 ? { toolName: 'pay' } : 'Done.'));
    const world = await openWorld({
      database: { ...database, open: async (parts) => failing(await database.open(parts)) },
      models: { default: model },
      tools: { pay },
    });
    await world.start();
    const { ada, space } = await lobby(world, { tools: ['pay'] }, { isIn: true });
    await world.say(space, ada, 'Pay');
    await world.idle();
    expect(resultsOf(model.requests[1] as never).map(({ text }) => text)).toEqual(['paid']);
    expect(runs).toBe(1);
    await world.stop();
  });
});
