import { StatementSync } from 'node:sqlite';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { claimNextRun } from '../../src/runtime/claim/next-run.ts';
import { TranscriptCache } from '../../src/runtime/claim/transcript-cache.ts';
import { claimThread } from '../../src/runtime/lease/lease.ts';
import { Scheduler } from '../../src/runtime/scheduler.ts';
import { Worker } from '../../src/runtime/worker.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { lobby } from '../support/lobby.ts';
import { onSqlite } from '../support/stores.ts';
import { openWorld, type World } from '../support/world.ts';

/** Counts how often rows of transcripts are read. */
function countReads(): () => number {
  const all = vi.spyOn(StatementSync.prototype, 'all');
  onTestFinished(() => all.mockRestore());
  const isRead = ({ sourceSQL }: StatementSync): boolean =>
    /^select "seq", "kind", "payload" from "transcript_entries"/.test(sourceSQL);
  return () => (all.mock.contexts as unknown as readonly StatementSync[]).filter(isRead).length;
}

const claim = (world: World, threadId: string, { owner = 'dead', isAbandoned = false } = {}) =>
  claimNextRun(world.services, world.registry, threadId, {
    owner,
    isUrgent: false,
    isAbandoned,
    transcriptCache: new TranscriptCache(),
  });

const lapse = (world: World, threadId: string) =>
  world.in((tx) => tx.db.updateTable('threads').set({ lease_until: 0 }).where('id', '=', threadId).execute());

describeIdleWorld({ title: 'the claim of a thread with an abandoned run', on: [onSqlite] }, ({ world }) => {
  test('[G56] reads the transcript once, with the run, and not at all if another worker was faster', async () => {
    const { ada, bot, space } = await lobby(world, {}, { isIn: true });
    await world.say(space, ada, 'Go');
    const lost = await claim(world, bot);
    const reads = countReads();
    expect(await claim(world, bot, { owner: 'late', isAbandoned: true })).toBeUndefined();
    expect(reads()).toBe(0);
    await lapse(world, bot);
    const taken = await claim(world, bot, { owner: 'next', isAbandoned: true });
    expect(taken?.run).toMatchObject({ isTakenOver: true });
    expect(taken?.run.transcript.entries).toEqual(lost?.run.transcript.entries);
    expect(taken?.run.transcript.entries).not.toEqual([]);
    expect(reads()).toBe(1);
  });

  test('also handles new work if the run has ended meanwhile', async () => {
    const { ada, bot, space } = await lobby(world, {}, { isIn: true });
    await world.say(space, ada, 'Go');
    const taken = await claim(world, bot, { isAbandoned: true });
    expect(taken?.run).toMatchObject({ isTakenOver: false, number: 1 });
  });
});

describe.each([onSqlite])('the end of a lease on $kind', ({ create }) => {
  const database = forAllTests(create);

  test('[G40] a thread can be claimed from the millisecond at which its lease ends, and not before', async () => {
    const clock = vi.spyOn(Date, 'now');
    onTestFinished(() => clock.mockRestore());
    const world = await openWorld({ database });
    const bot = await world.agent();
    clock.mockReturnValue(1_800_000_000_000);
    const claimWithLease = (endsInMs: number) =>
      world.in(async (tx) => {
        const lease = { lease_owner: 'dead', lease_until: tx.now() + endsInMs };
        await tx.db.updateTable('threads').set(lease).where('id', '=', bot).execute();
        return await claimThread(tx, bot, { owner: 'next', leaseMs: 60_000 }, async () => {});
      });
    expect(await claimWithLease(1)).toBeUndefined();
    expect((await claimWithLease(0))?.held.lease).toEqual({ threadId: bot, epoch: 1 });
    clock.mockRestore();
    await world.stop();
  });
});

describe.each([onSqlite])('a sweep on $kind', ({ create }) => {
  const database = forAllTests(create);

  test('[G56] marks the run of a thread whose worker died as abandoned for the claim', async () => {
    const world = await openWorld({ database, models: { default: scriptedModel(() => 'Done.') } });
    const { ada, bot, space } = await lobby(world, {}, { isIn: true });
    await world.say(space, ada, 'Go');
    await claim(world, bot);
    await lapse(world, bot);
    const reads = countReads();
    const worker = new Worker(world.services, world.registry, new Scheduler({ slots: 1 }));
    await worker.start({ sweeps: [] });
    await expect.poll(() => world.told.map(({ type }) => type)).toContain('run.end');
    await worker.stop();
    expect(reads()).toBe(1);
    await world.stop();
  });
});
