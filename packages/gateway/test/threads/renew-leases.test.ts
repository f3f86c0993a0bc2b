import { describe, expect, test } from 'vitest';
import { claimThread } from '../../src/runtime/lease/lease.ts';
import { renewLeases } from '../../src/runtime/lease/renew-leases.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { holdLock, overlapping } from '../support/held-lock.ts';
import { openWorld } from '../support/world.ts';

describe.each(overlapping)('leases on $kind', ({ create }) => {
  const database = forAllTests(create);
  const world = forAllTests(() => openWorld({ database, models: {} }));

  test('are renewed in the order of their ids, so that nobody who locks in that order waits for ever', async () => {
    const [first, second] = [await world.agent('First'), await world.agent('Second')].sort() as [string, string];
    const claimant = { owner: 'me', leaseMs: 60_000 };
    // The last that is claimed lies behind the other in the table: an update would come to it last.
    for (const id of [second, first])
      await world.store.transaction((tx) => claimThread(tx, id, claimant, async () => {}));
    const other = await holdLock(database, 'select 1 from threads where id = $1 for update', [first]);
    const renewing = renewLeases(world.store, { ...claimant, threadIds: [second, first] });
    await other.waitedFor();
    await other.query('select 1 from threads where id = $1 for update nowait', [second]);
    await other.release();
    expect([...(await renewing).keys()].sort()).toEqual([first, second]);
  });
});
