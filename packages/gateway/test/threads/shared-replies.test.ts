// Runs that end at the same moment, each with a message. On PostgreSQL they share a transaction, and what is wrong with one of them
// concerns no other: src/runtime/run/shared-writes.ts, and the sixth clause of src/ports/store/postgres/postgres-group.ts.
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { addMember } from '../../src/domain/spaces/membership.ts';
import { postMessage } from '../../src/domain/spaces/post-message.ts';
import { updateSpace } from '../../src/domain/spaces/update-space.ts';
import type { ApplyContext } from '../../src/runtime/journal/apply-context.ts';
import { applyWrites } from '../../src/runtime/journal/apply-writes.ts';
import { claimThread, fenced, type Lease } from '../../src/runtime/lease/lease.ts';
import type { Write } from '../../src/runtime/run/run-write.ts';
import { groupOf } from '../../src/runtime/run/shared-writes.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { holdLock, overlapping } from '../support/held-lock.ts';
import type { World } from '../support/world.ts';

interface Ending {
  readonly bot: string;
  readonly spaceId: string;
  readonly lease: Lease;
}

describeIdleWorld(
  { title: 'runs that end together, with a message each', on: overlapping },
  ({ world, database, beside }) => {
    const other = beside();
    const owner = { owner: 'own', leaseMs: 60_000 };

    const claim = async (bot: string): Promise<Lease> =>
      (await world.in((tx) => claimThread(tx, bot, owner, async () => {})))?.held.lease as Lease;
    /** A run that is about to end, in a space of its own unless one is given. */
    const ending = async (spaceId?: string): Promise<Ending> => {
      const bot = await world.agent();
      if (spaceId === undefined) return { bot, spaceId: await world.space('Room', [bot]), lease: await claim(bot) };
      await world.in((tx) => addMember(tx, { spaceId, entityId: bot }));
      return { bot, spaceId, lease: await claim(bot) };
    };
    const endings = (count: number): Promise<Ending[]> => Promise.all(Array.from({ length: count }, () => ending()));
    const writesOf = ({ bot, spaceId }: Ending, more: readonly Write[] = []): readonly Write[] => [
      { kind: 'entry', seq: 1, entry: 'stop', payload: '{}' as never },
      ...more,
      { kind: 'post-reply', spaceId, messageId: `reply-${bot}`, text: 'Done.' },
      { kind: 'release-thread' },
    ];
    const responseOf = ({ bot, spaceId }: Ending): readonly Write[] => [
      { kind: 'entry', seq: 1, entry: 'stop', payload: '{}' as never },
      { kind: 'post-response', spaceId, callId: `reply-${bot}`, toolName: 'finish', text: 'Done.' },
      { kind: 'release-thread' },
    ];
    let attempts = 0;
    const end = (one: Ending, { services, store }: World = world, writes = writesOf(one)): Promise<unknown> => {
      const { bot, lease } = one;
      const run = { runId: `run-${bot}`, agent: { id: bot, entityId: bot }, lease, answers: {} };
      const work: Parameters<typeof fenced>[2] = (_tx, held) => {
        attempts++;
        return applyWrites({ run, services } as unknown as ApplyContext, held, writes);
      };
      return fenced(store, lease, work, { group: groupOf(lease.threadId, writes) });
    };
    /** By which transaction each message was written. Equal numbers: by one. */
    const writtenBy = async (all: readonly Ending[]): Promise<readonly (string | undefined)[]> => {
      const { rows } = await sql<{ id: string; by: string }>`
      select id, xmin::text as by from messages where id = any(${all.map(({ bot }) => `reply-${bot}`)})
    `.execute(world.store.db);
      return all.map(({ bot }) => rows.find(({ id }) => id === `reply-${bot}`)?.by);
    };

    test('their messages are written by one transaction, and none of them runs twice', async () => {
      const listeners = await Promise.all(Array.from({ length: 6 }, () => world.agent('Listener')));
      const all = await Promise.all(listeners.map(async (listener) => ending(await world.space('Room', [listener]))));
      attempts = 0;
      // A statement for several of them that fails would undo them all, and each would run again alone.
      await Promise.all(all.map((one, index) => end(one, world, index % 2 === 0 ? writesOf(one) : responseOf(one))));
      const by = await writtenBy(all);
      expect(by[0]).toBeDefined();
      expect(new Set(by).size).toBe(1);
      expect(attempts).toBe(6);
      const spaces = world.store.db.selectFrom('spaces').select(['next_seq', 'hops']);
      for (const [index, { bot, spaceId }] of all.entries()) {
        expect(await spaces.where('id', '=', spaceId).execute()).toEqual([{ next_seq: 2, hops: 1 }]);
        expect(await world.inbox(listeners[index] as string)).toMatchObject([{ event: { messageId: `reply-${bot}` } }]);
        expect(world.heard(spaceId)).toContain('message.complete');
      }
      const held = world.store.db.selectFrom('threads').select('id').where('lease_owner', 'is not', null);
      expect(
        await held
          .where(
            'id',
            'in',
            all.map(({ bot }) => bot),
          )
          .execute(),
      ).toEqual([]);
    });

    test('if another transaction holds the space of one, only that one waits', async () => {
      const all = await endings(4);
      const [held, ...others] = all as [Ending, ...Ending[]];
      const lock = await holdLock(database, 'select id from spaces where id = $1 for no key update', [held.spaceId]);
      const waiting = end(held);
      await Promise.all(others.map((one) => end(one)));
      expect(new Set(await writtenBy(others)).size).toBe(1);
      expect(await writtenBy([held])).toEqual([undefined]);
      await lock.waitedFor({ orDone: waiting });
      await lock.release();
      await waiting;
      expect(await writtenBy([held])).toEqual([expect.any(String)]);
    });

    test('an agent whose inbox is nearly full makes only those run alone that write to it', async () => {
      const small = await world.agent('Small', { limits: { inboxLength: 1 } });
      const room = await world.space('Room', [small]);
      const all = [await ending(room), ...(await endings(3))];
      attempts = 0;
      await Promise.all(all.map((one) => end(one)));
      const [alone, ...together] = await writtenBy(all);
      expect(alone).toBeDefined();
      expect(new Set(together).size).toBe(1);
      expect(together).not.toContain(alone);
      // Only one of the four ran twice: nothing was undone.
      expect(attempts).toBe(5);
      expect(await world.inbox(small)).toHaveLength(1);
    });

    test('[A23] a run whose space is archived ends without its message, and the others post theirs', async () => {
      const all = await endings(3);
      const [archived, ...others] = all as [Ending, ...Ending[]];
      await world.in((tx) => updateSpace(tx, archived.spaceId, { archived: true }));
      await Promise.all(all.map((one) => end(one)));
      expect(await writtenBy([archived])).toEqual([undefined]);
      expect(new Set(await writtenBy(others)).size).toBe(1);
      const entries = world.store.db.selectFrom('transcript_entries').select('seq');
      expect(await entries.where('thread_id', '=', archived.bot).execute()).toEqual([{ seq: 1 }]);
      expect(world.logs.map(({ message }) => message)).toContainEqual(
        expect.stringContaining(`The reply of run run-${archived.bot} was not posted`),
      );
    });

    test('the messages of several in one space are numbered without a gap, each by a transaction of its own', async () => {
      const room = await world.space('Room', []);
      const all = await Promise.all([ending(room), ending(room), ending(room)]);
      await Promise.all(all.map((one) => end(one)));
      expect(new Set(await writtenBy(all)).size).toBe(3);
      const seqs = await world.store.db
        .selectFrom('messages')
        .select('seq')
        .where('space_id', '=', room)
        .orderBy('seq')
        .execute();
      expect(seqs).toEqual([{ seq: 1 }, { seq: 2 }, { seq: 3 }]);
    });

    test('groups of two gateways that post in the same spaces, in opposite orders, do not deadlock', async () => {
      const rooms = await Promise.all(Array.from({ length: 8 }, () => world.space('Room', [])));
      const [ours, theirs] = [
        await Promise.all(rooms.map((room) => ending(room))),
        await Promise.all(rooms.toReversed().map((room) => ending(room))),
      ];
      await Promise.all([...ours.map((one) => end(one)), ...theirs.map((one) => end(one, other))]);
      expect(await writtenBy([...ours, ...theirs])).not.toContain(undefined);
      for (const room of rooms) {
        const seqs = world.store.db.selectFrom('messages').select('seq').where('space_id', '=', room).orderBy('seq');
        expect(await seqs.execute()).toEqual([{ seq: 1 }, { seq: 2 }]);
      }
    });

    test('one that also stores a new text runs alone, because others store texts before they lock a space', async () => {
      const [one] = (await endings(1)) as [Ending];
      const text: Write = { kind: 'request-text', hash: `hash-${one.bot}`, text: 'You are a bot.' };
      const writes = writesOf(one, [text]);
      expect(groupOf(one.bot, writes)).toBeUndefined();
      expect(groupOf(one.bot, writesOf(one))).toEqual({ kind: 'reply', keys: [one.bot, one.spaceId] });
      await end(one, world, writes);
      expect(await writtenBy([one])).toEqual([expect.any(String)]);
    });

    test('a message of a person in a space that is held does not hold up those in other spaces', async () => {
      const ann = await world.person();
      const spaces = await Promise.all(Array.from({ length: 4 }, () => world.space('Room', [ann])));
      const [held, ...others] = spaces as [string, ...string[]];
      const lock = await holdLock(database, 'select id from spaces where id = $1 for no key update', [held]);
      const post = (spaceId: string): Promise<unknown> =>
        world.store.transaction((tx) => postMessage(world.services, tx, { spaceId, entityId: ann, text: 'Hi' }), {
          group: { kind: 'post', keys: [spaceId] },
        });
      const waiting = post(held);
      await Promise.all(others.map(post));
      await lock.waitedFor({ orDone: waiting });
      await lock.release();
      expect(await waiting).toMatchObject({ message: { seq: 1 } });
    });
  },
);
