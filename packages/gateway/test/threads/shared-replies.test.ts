// Runs that end at the same moment, each with a message. On PostgreSQL they share a transaction, and a failure of one of them
// affects no other: src/runtime/run/shared-writes.ts, and the sixth clause of src/ports/store/postgres/postgres-group.ts.
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { addMember, removeMember } from '../../src/domain/spaces/membership.ts';
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
    /** A run that is about to end, in a new space unless one is given. */
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
    /** The transaction that wrote each message. Equal numbers mean the same one. */
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

    test('if the inbox of a listener is nearly full, only the run that writes to it runs alone', async () => {
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

    test('a run whose space is archived ends without its message, and the others post theirs', async () => {
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

    test('the messages of several runs in one space are numbered without a gap, each by a separate transaction', async () => {
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

    test('two gateways that post in the same spaces, in opposite orders, each post once and number without a gap', async () => {
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

    test('a run that also stores a new text runs alone, because others store texts before they lock a space', async () => {
      const [one] = (await endings(1)) as [Ending];
      const text: Write = { kind: 'request-text', hash: `hash-${one.bot}`, text: 'You are a bot.' };
      const writes = writesOf(one, [text]);
      expect(groupOf(one.bot, writes)).toBeUndefined();
      expect(groupOf(one.bot, writesOf(one))).toEqual({
        kind: 'reply',
        keys: [one.bot, one.spaceId],
        turn: one.spaceId,
      });
      await end(one, world, writes);
      expect(await writtenBy([one])).toEqual([expect.any(String)]);
    });

    test('of the replies in a locked space only one waits for the lock, and none delays other runs', async () => {
      const room = await world.space('Room', []);
      const all = await Promise.all(Array.from({ length: 12 }, () => ending(room)));
      const [other] = (await endings(1)) as [Ending];
      const lock = await holdLock(database, 'select id from spaces where id = $1 for no key update', [room]);
      attempts = 0;
      const waiting = Promise.all(all.map((one) => end(one)));
      await end(other);
      await lock.waitedFor();
      // With a connection for each of them there would be none left for reads.
      expect(await writtenBy([...all, other])).toEqual([...all.map(() => undefined), expect.any(String)]);
      // The first one, in its group and alone, and the other one.
      expect(attempts).toBe(3);
      await lock.release();
      await waiting;
      expect(await writtenBy(all)).not.toContain(undefined);
    });

    test('[G16] a run that was cancelled meanwhile does not end as completed, and the others post once', async () => {
      const all = await endings(3);
      const [cancelled, ...others] = all as [Ending, ...Ending[]];
      const closing = (one: Ending): readonly Write[] => {
        const close = {
          kind: 'close-run',
          as: 'completed',
          stop: { reason: 'end_turn', by: 'text' },
          usage: {},
        } as unknown as Write;
        return writesOf(one, [{ ...close, announcedSpaceId: null, mayWait: false } as Write]);
      };
      for (const { bot } of all)
        await world.in((tx) =>
          sql`insert into runs (id, thread_id, turn_id, trigger, status, number, usage, epoch, config_version, attempts, created_at, cancel_requested_at)
          values (${`run-${bot}`}, ${bot}, 'turn', '{}', 'running', 1, '{}', 1, 1, 1, 1, ${bot === cancelled.bot ? 1 : null})`.execute(
            tx.db,
          ),
        );
      const ended = await Promise.allSettled(all.map((one) => end(one, world, closing(one))));
      expect(ended).toMatchObject([
        { reason: { code: 'run_cancelled' } },
        { status: 'fulfilled' },
        { status: 'fulfilled' },
      ]);
      expect(await writtenBy([cancelled])).toEqual([undefined]);
      expect(await writtenBy(others)).not.toContain(undefined);
    });

    test('[G40] a worker that lost its thread posts nothing, and the others post once', async () => {
      const all = await endings(3);
      const [lost, ...others] = all as [Ending, ...Ending[]];
      await world.in(({ db }) => db.updateTable('threads').set({ epoch: 9 }).where('id', '=', lost.bot).execute());
      const ended = await Promise.allSettled(all.map((one) => end(one)));
      expect(ended).toMatchObject([
        { reason: { code: 'lease_lost' } },
        { status: 'fulfilled' },
        { status: 'fulfilled' },
      ]);
      expect(await writtenBy([lost])).toEqual([undefined]);
      expect(await writtenBy(others)).not.toContain(undefined);
    });

    test('a message that an earlier attempt has posted is not posted again', async () => {
      const all = await endings(3);
      const [again] = all as [Ending];
      await world.in((tx) =>
        postMessage(world.services, tx, {
          spaceId: again.spaceId,
          entityId: again.bot,
          messageId: `reply-${again.bot}`,
          text: 'Done.',
        }),
      );
      const before = await writtenBy([again]);
      await Promise.all(all.map((one) => end(one)));
      expect(await writtenBy([again])).toEqual(before);
      expect(await writtenBy(all)).not.toContain(undefined);
      expect(world.heard(again.spaceId).filter((type) => type === 'message.complete')).toHaveLength(1);
    });

    test('the rest of a draft is shown only in a space that accepts the message', async () => {
      const all = await endings(2);
      const [archived, open] = all as [Ending, Ending];
      await world.in((tx) => updateSpace(tx, archived.spaceId, { archived: true }));
      const drafted = (one: Ending): readonly Write[] =>
        writesOf(one).map((write) => (write.kind === 'post-reply' ? { ...write, unseen: 'ne.' } : write));
      await Promise.all(all.map((one) => end(one, world, drafted(one))));
      expect(world.heard(archived.spaceId)).not.toContain('message.delta');
      expect(world.heard(archived.spaceId)).toContain('message.cancelled');
      expect(world.heard(open.spaceId)).toContain('message.delta');
    });

    test('[G1] what a run shows in a space that its agent has left is not written, and the others write theirs once', async () => {
      const all = await endings(4);
      const [left, archived, ...others] = all as [Ending, Ending, ...Ending[]];
      await world.in((tx) => removeMember(tx, { spaceId: left.spaceId, entityId: left.bot }));
      await world.in((tx) => updateSpace(tx, archived.spaceId, { archived: true }));
      const showing = ({ bot, spaceId }: Ending): readonly Write[] => [
        { kind: 'entry', seq: 1, entry: 'reply', payload: '{}' as never },
        {
          kind: 'space-event',
          spaceId,
          type: 'message.start',
          payload: { streamId: bot, messageId: bot, entityId: bot, runId: 'r' },
        },
        { kind: 'space-event', spaceId, type: 'message.delta', payload: { streamId: bot, delta: 'Hm' } },
      ];
      expect(groupOf(left.bot, showing(left))).toMatchObject({ kind: 'journal' });
      const shown = await Promise.allSettled(all.map((one) => end(one, world, showing(one))));
      expect(shown).toMatchObject([
        { reason: { name: 'NoLongerShown', spaceId: left.spaceId } },
        { reason: { name: 'NoLongerShown', spaceId: archived.spaceId } },
        ...others.map(() => ({ status: 'fulfilled' })),
      ]);
      const told = (one: Ending) => world.heard(one.spaceId).filter((type) => type.startsWith('message.'));
      expect([left, archived].flatMap(told)).toEqual([]);
      expect(others.map(told)).toEqual(others.map(() => ['message.start', 'message.delta']));
    });

    test('a message of a person in a locked space does not delay those in other spaces', async () => {
      const ann = await world.person();
      const spaces = await Promise.all(Array.from({ length: 4 }, () => world.space('Room', [ann])));
      const [held, ...others] = spaces as [string, ...string[]];
      const lock = await holdLock(database, 'select id from spaces where id = $1 for no key update', [held]);
      let posts = 0;
      const post = (spaceId: string): Promise<unknown> =>
        world.store.transaction(
          (tx) => {
            posts++;
            return postMessage(world.services, tx, { spaceId, entityId: ann, text: 'Hi' });
          },
          { group: { kind: 'post', keys: [spaceId], turn: spaceId } },
        );
      const waiting = post(held);
      await Promise.all(others.map(post));
      await lock.waitedFor({ orDone: waiting });
      // The first one left the group, which was not undone.
      expect(posts).toBe(5);
      await lock.release();
      expect(await waiting).toMatchObject({ message: { seq: 1 } });
    });
  },
);
