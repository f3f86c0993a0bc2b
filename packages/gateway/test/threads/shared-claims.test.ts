// Agents that are woken at the same moment, each in another space than before. On PostgreSQL their claims share a transaction:
// `wakeIn` in src/runtime/claim/waking-space.ts.
import { scriptedModel } from '@lastcall/core/testing';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { removeMember } from '../../src/domain/spaces/membership.ts';
import { claimNextRun } from '../../src/runtime/claim/next-run.ts';
import { TranscriptCache } from '../../src/runtime/claim/transcript-cache.ts';
import { forAllTests, forEachTest } from '../support/for-all-tests.ts';
import { holdLock, overlapping } from '../support/held-lock.ts';
import { type Lobby, lobby } from '../support/lobby.ts';
import { openWorld } from '../support/world.ts';

/** The worker is not started, so only the test claims threads. */
describe.each(overlapping)('agents that are woken together on $kind', ({ create }) => {
  const database = forAllTests(create);
  const world = forEachTest(() => openWorld({ database, models: { default: scriptedModel(() => 'Done.') } }));

  const woken = async (): Promise<Lobby> => {
    const one = await lobby(world);
    await world.say(one.space, one.ada, 'Hi');
    return one;
  };
  const claim = ({ bot }: Lobby) =>
    claimNextRun(world.services, world.registry, bot, {
      owner: 'test',
      isUrgent: true,
      transcriptCache: new TranscriptCache(),
    });
  /** The transaction that wrote each of their runs. Equal numbers mean the same one. Undefined if there is no run. */
  const writtenBy = async (all: readonly Lobby[]): Promise<readonly (string | undefined)[]> => {
    const { rows } = await sql<{ thread_id: string; by: string }>`select thread_id, xmin::text as by from runs`.execute(
      world.store.db,
    );
    return all.map(({ bot }) => rows.find(({ thread_id }) => thread_id === bot)?.by);
  };
  const activeSpaces = async (all: readonly Lobby[]): Promise<readonly (string | null | undefined)[]> => {
    const agents = await world.store.db.selectFrom('agents').select(['id', 'active_space_id']).execute();
    return all.map(({ bot }) => agents.find(({ id }) => id === bot)?.active_space_id);
  };

  test('their runs are written by one transaction, each in its own space', async () => {
    const all = await Promise.all([woken(), woken(), woken()]);
    await Promise.all(all.map(claim));
    expect(await activeSpaces(all)).toEqual(all.map(({ space }) => space));
    const by = await writtenBy(all);
    expect(by[0]).toBeDefined();
    expect(new Set(by).size).toBe(1);
  });

  test('an agent whose membership another transaction holds waits alone, and the others do not', async () => {
    const all = await Promise.all([woken(), woken(), woken()]);
    const [held] = all;
    const lock = await holdLock(database, 'select 1 from memberships where entity_id = $1 for no key update', [
      held.bot,
    ]);
    const [waiting, ...others] = all.map(claim);
    await Promise.all(others);
    await lock.waitedFor();
    expect((await writtenBy(all)).map((by) => by !== undefined)).toEqual([false, true, true]);
    await lock.release();
    expect(await waiting).toBeDefined();
    expect(await activeSpaces(all)).toEqual(all.map(({ space }) => space));
  });

  test('an agent that has left its space has no active space, and the others still share their transaction', async () => {
    const all = await Promise.all([woken(), woken(), woken()]);
    const [gone] = all;
    await world.in((tx) => removeMember(tx, { spaceId: gone.space, entityId: gone.bot }));
    await Promise.all(all.map(claim));
    expect(await activeSpaces(all)).toEqual([null, ...all.slice(1).map(({ space }) => space)]);
    const [, ...others] = await writtenBy(all);
    expect(others[0]).toBeDefined();
    expect(new Set(others).size).toBe(1);
  });
});
