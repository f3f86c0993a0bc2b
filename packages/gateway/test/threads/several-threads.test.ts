// Several threads at once. On PostgreSQL they share statements (src/ports/store/postgres-group.ts); each keeps its own fence.
import { scriptedModel } from '@lastcall/core/testing';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { pushEvent, pushNewEvent } from '../../src/domain/inbox/push-event.ts';
import { type PushedServiceEvent, pushServiceEvent } from '../../src/domain/inbox/push-service-event.ts';
import { appendRows } from '../../src/runtime/journal/append-rows.ts';
import { claimThread, fenced, type Lease } from '../../src/runtime/lease/lease.ts';
import { releaseAndLook } from '../../src/runtime/lease/release-thread.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';
import { openWorld, type World } from '../support/world.ts';

const claimAs = (world: World, threadId: string, owner: string): Promise<Lease | undefined> =>
  world.store.transaction(
    async (tx) => (await claimThread(tx, threadId, { owner, leaseMs: 60_000 }, async () => {}))?.held.lease,
    { group: { kind: 'claim', keys: [threadId] } },
  );
const agents = (world: World, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => world.agent(`Bot ${index}`)));

describe.each(databases)('several threads at once on $kind', ({ create }) => {
  const database = forEachTest(create);

  test('events for several agents at once are each delivered once, and a full inbox refuses only its own', async () => {
    const world = await openWorld({ database });
    const bots = await agents(world, 4);
    const [full, twice] = bots as [string, string];
    await world.in(({ db }) =>
      db
        .updateTable('agents')
        .set({ config: sql<string>`replace(config, '{', '{"limits":{"inboxLength":1},')` })
        .where('id', '=', full)
        .execute(),
    );
    const push = (agentId: string, eventId: string): Promise<PushedServiceEvent> =>
      world.store.transaction((tx) => pushServiceEvent(tx, { agentId, eventId, source: 'test', name: 'tick' }), {
        group: { kind: 'event', keys: [agentId] },
      });
    await push(full, 'first');
    await push(twice, 'same');
    const pushed = await Promise.allSettled(bots.map((bot) => push(bot, bot === twice ? 'same' : 'second')));
    expect(pushed).toMatchObject([
      { reason: { code: 'inbox_full' } },
      { value: { eventId: 'same', duplicate: true } },
      { value: { eventId: 'second', duplicate: false } },
      { value: { eventId: 'second', duplicate: false } },
    ]);
    const waiting = await world.store.db.selectFrom('inbox_events').select(['thread_id', 'event_id']).execute();
    expect(bots.map((bot) => waiting.filter((one) => one.thread_id === bot).map((one) => one.event_id))).toEqual([
      ['first'],
      ['same'],
      ['second'],
      ['second'],
    ]);
    await world.stop();
  });

  test('[G40] free threads are claimed, and one that is held is not', async () => {
    const world = await openWorld({ database });
    const bots = await agents(world, 4);
    const [first, held] = bots as [string, string];
    expect(await claimAs(world, held, 'other')).toEqual({ threadId: held, epoch: 1 });
    const claimed = await Promise.all(bots.map((bot) => claimAs(world, bot, 'own')));
    expect(claimed).toEqual(bots.map((threadId) => (threadId === held ? undefined : { threadId, epoch: 1 })));
    const owners = await world.store.db.selectFrom('threads').select(['id', 'lease_owner']).execute();
    expect(owners.find(({ id }) => id === held)?.lease_owner).toBe('other');
    expect(owners.find(({ id }) => id === first)?.lease_owner).toBe('own');
    await world.stop();
  });

  test('[G40] a worker that lost one of its threads writes to the others, and nothing to that one', async () => {
    const world = await openWorld({ database });
    const bots = await agents(world, 3);
    const leases = await Promise.all(bots.map((bot) => claimAs(world, bot, 'stalled')));
    const [lost] = bots as [string];
    await world.in(({ db }) => db.updateTable('threads').set({ lease_until: 1 }).where('id', '=', lost).execute());
    expect(await claimAs(world, lost, 'other')).toEqual({ threadId: lost, epoch: 2 });
    const write = (lease: Lease): Promise<unknown> =>
      fenced(
        world.store,
        lease,
        async (tx) => {
          releaseAndLook(tx, lease);
          const event = { type: 'agent.inactive', payload: { runId: 'r', entityId: lease.threadId } };
          tx.emit({ stream: `space:${lease.threadId}`, ...event });
          // Both emit on one stream, which numbers the events.
          tx.emit({ stream: 'space:shared', ...event });
        },
        { group: { kind: 'journal', keys: [lease.threadId] } },
      );
    const written = await Promise.allSettled(leases.map((lease) => write(lease as Lease)));
    expect(written).toMatchObject([
      { reason: { code: 'lease_lost' } },
      { status: 'fulfilled' },
      { status: 'fulfilled' },
    ]);
    const rows = await world.store.db.selectFrom('threads').select(['id', 'lease_owner']).execute();
    const ownerOf = (bot: string): unknown => rows.find(({ id }) => id === bot)?.lease_owner;
    expect(bots.map(ownerOf)).toEqual(['other', null, null]);
    expect(await world.events(`space:${lost}`)).toEqual([]);
    expect((await world.events('space:shared')).map(({ seq }) => seq)).toEqual([1, 2]);
    // Each was published with its stored number.
    const told = world.told.filter(({ stream }) => stream === 'space:shared').map(({ seq }) => seq);
    expect(told.toSorted()).toEqual([1, 2]);
    await world.stop();
  });

  test('simultaneous writes of several threads are written together, and none of them has to run again alone', async () => {
    const world = await openWorld({ database });
    const bots = await agents(world, 4);
    const leases = await Promise.all(bots.map((bot) => claimAs(world, bot, 'own')));
    const ran: string[] = [];
    const write = (lease: Lease): Promise<unknown> =>
      fenced(
        world.store,
        lease,
        async (tx, held) => {
          const { threadId } = lease;
          ran.push(threadId);
          const rows = ['turn', 'message'].map((kind) => ({ kind, payload: `"${kind} of ${threadId}"` }));
          appendRows(held, { runId: 'run', seq: 1 }, rows);
          const event = { type: 'service', source: 'test', name: 'tick', data: threadId } as const;
          // The same event for each of them.
          const [one, other] = [
            { threadId, eventId: 'tick', event },
            { threadId, eventId: 'tock', event },
          ];
          expect(await pushEvent(tx, one)).toBe(true);
          pushNewEvent(tx, other);
          const payload = { runId: 'run', entityId: threadId };
          tx.emit({ stream: `space:${threadId}`, type: 'agent.inactive', payload });
        },
        { group: { kind: 'journal', keys: [lease.threadId] } },
      );
    await Promise.all(leases.map((lease) => write(lease as Lease)));
    // If a statement for several of them failed, all would be undone and repeated alone, which the results would not show.
    expect(ran.toSorted()).toEqual(bots.toSorted());
    const { db } = world.store;
    const entries = db.selectFrom('transcript_entries').select(['seq', 'kind', 'payload']).orderBy('seq');
    for (const bot of bots) {
      expect(await entries.where('thread_id', '=', bot).execute()).toEqual([
        { seq: 1, kind: 'turn', payload: `"turn of ${bot}"` },
        { seq: 2, kind: 'message', payload: `"message of ${bot}"` },
      ]);
      const inbox = await world.inbox(bot);
      expect(inbox.map(({ eventId, event }) => [eventId, event])).toEqual(
        ['tick', 'tock'].map((eventId) => [eventId, expect.objectContaining({ data: bot })]),
      );
      expect(await world.events(`space:${bot}`)).toMatchObject([{ seq: 1, payload: { entityId: bot } }]);
    }
    await world.stop();
  });

  test('[G37] twenty agents that are woken at once each handle their message once, in a separate run', async () => {
    const world = await openWorld({ database, models: { default: scriptedModel(() => 'Done.') } });
    await world.start();
    const ada = await world.person('Ada');
    const bots = await agents(world, 20);
    const spaces = await Promise.all(bots.map((bot) => world.space('Room', [ada, bot])));
    await Promise.all(spaces.map((space) => world.say(space, ada, `In ${space}`)));
    await world.idle();
    const runs = await world.store.db.selectFrom('runs').select(['thread_id', 'status']).execute();
    const own = runs.filter(({ thread_id }) => bots.includes(thread_id));
    expect(own.map(({ thread_id }) => thread_id).toSorted()).toEqual(bots.toSorted());
    expect(new Set(own.map(({ status }) => status))).toEqual(new Set(['completed']));
    const entries = world.store.db.selectFrom('transcript_entries').select(['thread_id', 'payload']);
    for (const [index, bot] of bots.entries()) {
      const rows = await entries.where('thread_id', '=', bot).where('payload', 'like', '%In %').execute();
      // It read only its own message.
      expect(rows.every(({ payload }) => payload.includes(`In ${spaces[index]}`))).toBe(true);
      expect(rows.length).toBeGreaterThan(0);
    }
    await world.stop();
  });
});
