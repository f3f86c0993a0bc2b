import { describe, expect, test } from 'vitest';
import { claimThread } from '../../src/runtime/lease/lease.ts';
import { renewLeases } from '../../src/runtime/lease/renew-leases.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { holdLock, overlapping } from '../support/held-lock.ts';
import { databases } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';

describe.each(databases)('a renewal on $kind', ({ create }) => {
  const database = forAllTests(create);
  const world = forAllTests(() => openWorld({ database, models: {} }));

  test('[G9] renews only the leases of its owner, and changes none of a worker that took a thread over', async () => {
    const [mine, taken, free] = [await world.agent('Mine'), await world.agent('Taken'), await world.agent('Free')];
    const claim = (id: string, owner: string, leaseMs: number) =>
      world.store.transaction((tx) => claimThread(tx, id, { owner, leaseMs }, async () => {}));
    const kept = await claim(mine, 'me', 60_000);
    // The lease has run out at once, so the other worker may claim the thread.
    await claim(taken, 'me', 0);
    await claim(taken, 'other', 60_000);
    const threadIds = [mine, taken, free];
    const rows = () =>
      world.store.db
        .selectFrom('threads')
        .select(['id', 'lease_owner', 'lease_until', 'epoch'])
        .where('id', 'in', [taken, free])
        .orderBy('id')
        .execute();
    const before = await rows();
    const held = await renewLeases(world.store, { owner: 'me', leaseMs: 600_000, threadIds });
    expect([...held]).toEqual([[mine, kept?.held.lease.epoch]]);
    expect(await rows()).toEqual(before);
    const renewed = await world.store.db
      .selectFrom('threads')
      .select(['lease_owner', 'lease_until'])
      .where('id', '=', mine)
      .executeTakeFirstOrThrow();
    expect(renewed).toEqual({ lease_owner: 'me', lease_until: expect.any(Number) });
    expect(renewed.lease_until).toBeGreaterThan(Date.now() + 300_000);
  });
});

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
