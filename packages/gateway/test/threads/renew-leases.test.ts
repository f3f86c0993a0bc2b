import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Claimant, claimThread } from '../../src/runtime/lease/lease.ts';
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
    // The lease has expired at once, so the other worker may claim the thread.
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

  const claimAll = async (ids: readonly string[], claimant: Claimant): Promise<void> => {
    for (const id of ids) await world.store.transaction((tx) => claimThread(tx, id, claimant, async () => {}));
  };
  const untilOf = async (id: string): Promise<number> => {
    const row = world.store.db.selectFrom('threads').select('lease_until').where('id', '=', id);
    return (await row.executeTakeFirstOrThrow()).lease_until ?? 0;
  };

  test('[G56] are renewed although the row of one is locked, which is held and renewed as soon as it is free', async () => {
    const ids = [await world.agent('One'), await world.agent('Two'), await world.agent('Three')];
    const [locked, ...others] = ids.toSorted() as [string, ...string[]];
    await claimAll(ids, { owner: 'me', leaseMs: 1_000 });
    const other = await holdLock(database, 'select 1 from threads where id = $1 for share', [locked]);
    const before = await untilOf(locked);
    const renew = () => renewLeases(world.store, { owner: 'me', leaseMs: 60_000, threadIds: ids });
    const renewing = renew();
    // Renewed while the lock is held: the renewal itself retries for a tenth of the lease.
    for (const id of others) await expect.poll(() => untilOf(id)).toBeGreaterThan(Date.now() + 30_000);
    expect(await untilOf(locked)).toBe(before);
    await other.release();
    expect([...(await renewing).keys()].sort()).toEqual(ids.toSorted());
    expect(await untilOf(locked)).toBeGreaterThan(Date.now() + 30_000);
  });

  test('are held although their row stays locked, and lost once another worker has them', async () => {
    const ids = [await world.agent('One'), await world.agent('Two')];
    const [locked, taken] = ids as [string, string];
    await claimAll(ids, { owner: 'me', leaseMs: 0 });
    await claimAll([taken], { owner: 'other', leaseMs: 60_000 });
    const other = await holdLock(database, 'select 1 from threads where id = $1 for share', [locked]);
    const held = await renewLeases(world.store, { owner: 'me', leaseMs: 100, threadIds: ids });
    expect([...held.keys()]).toEqual([locked]);
    await other.release();
  });

  test('begin when the thread is held, and not when the claim began to wait for its row', async () => {
    const id = await world.agent('Waited for');
    const other = await holdLock(database, 'select 1 from threads where id = $1 for update', [id]);
    const leaseMs = 1_200;
    const claiming = claimAll([id], { owner: 'me', leaseMs });
    await other.waitedFor();
    await sleep(800);
    const freeAt = Date.now();
    await other.release();
    await claiming;
    // Clocks may differ by some milliseconds.
    expect(await untilOf(id)).toBeGreaterThan(freeAt + leaseMs - 200);
  });
});
