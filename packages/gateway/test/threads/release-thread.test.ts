import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { pushServiceEvent } from '../../src/domain/inbox/push-service-event.ts';
import { claimThread, fenced } from '../../src/runtime/lease/lease.ts';
import { releaseAndLook } from '../../src/runtime/lease/release-thread.ts';
import { until } from '../processes/until.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { holdLock, overlapping } from '../support/held-lock.ts';

describeIdleWorld({ title: 'a thread that is released', on: overlapping }, ({ world, database }) => {
  test('[G9] a release that waits for a lock reports an event that arrives meanwhile', async () => {
    const bot = await world.agent();
    const claimed = await world.in((tx) => claimThread(tx, bot, { owner: 'a', leaseMs: 60_000 }, async () => {}));
    if (claimed === undefined) throw new Error('Somebody else holds the thread.');
    const { lease } = claimed.held;
    const lock = await holdLock(database, 'select id from threads where id = $1 for update', [bot]);
    const releasing = fenced(world.store, lease, async (tx) => releaseAndLook(tx, lease));
    await lock.waitedFor();
    await world.in((tx) => pushServiceEvent(tx, { agentId: bot, source: 's', name: 'n' }));
    await until('the event is due by the clock of the database', async () => {
      const { rows } =
        await sql`select id from inbox_events where available_at <= extract(epoch from now()) * 1000`.execute(
          world.store.db,
        );
      return rows.length > 0;
    });
    await lock.release();
    const waiting = await releasing;
    expect(waiting()).toBe('others');
  });
});

describeIdleWorld('what waits for a thread that is released', ({ world }) => {
  test('[G9] is urgent if a person has written, and is not looked at before it is due', async () => {
    const [ada, bot] = [await world.person(), await world.agent()];
    const space = await world.space('Lobby', [ada, bot]);
    const release = async () => {
      const claimed = await world.in((tx) => claimThread(tx, bot, { owner: 'a', leaseMs: 60_000 }, async () => {}));
      if (claimed === undefined) throw new Error('Another worker holds the thread.');
      const { lease } = claimed.held;
      return (await fenced(world.store, lease, async (tx) => releaseAndLook(tx, lease)))();
    };
    expect(await release()).toBe('nothing');
    await world.in((tx) => pushServiceEvent(tx, { agentId: bot, source: 's', name: 'n' }));
    expect(await release()).toBe('others');
    await world.say(space, ada, 'Hello.');
    expect(await release()).toBe('urgent');
    const later = { available_at: Date.now() + 3_600_000 };
    await world.in((tx) => tx.db.updateTable('inbox_events').set(later).where('thread_id', '=', bot).execute());
    expect(await release()).toBe('nothing');
  });
});
