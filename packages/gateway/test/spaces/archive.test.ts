import { tool } from '@lastcall/core';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { getRunDetails } from '../../src/domain/runs/run-details.ts';
import { listMessages } from '../../src/domain/spaces/list-messages.ts';
import { getSpace, listSpaces } from '../../src/domain/spaces/space.ts';
import { type SpaceUpdate, updateSpace } from '../../src/domain/spaces/update-space.ts';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { wakeIn } from '../../src/runtime/claim/waking-space.ts';
import { draft, fork, lastRun } from '../forks/forking.ts';
import { describeIdleWorld, describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { resultsOf, situationOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import { waitingOf } from '../support/waiting-of.ts';
import type { World } from '../support/world.ts';
import { overlap } from './overlap.ts';

const steps = (...replies: ScriptedReply[]) =>
  scriptedModel((_request, invocation) => replies[invocation - 1] ?? 'Done.');
const change = (world: World, spaceId: string, update: SpaceUpdate) =>
  world.in((tx) => updateSpace(tx, spaceId, update));
const archive = (world: World, spaceId: string) => change(world, spaceId, { archived: true });
const textsIn = async ({ store }: World, spaceId: string) =>
  (await listMessages(store.db, { spaceId })).items.map(({ kind, text, status }) => (kind === 'tool' ? status : text));
const storedSpace = async ({ store }: World, bot: string) =>
  (await store.db.selectFrom('agents').select('active_space_id').where('id', '=', bot).executeTakeFirstOrThrow())
    .active_space_id;
const idsOf = async ({ store }: World, entityId: string, archived?: 'include' | 'only') =>
  (await listSpaces(store.db, { entityId, archived })).items.map(({ id }) => id);

describeIdleWorld('an archived space', ({ world, beside }) => {
  const other = beside();

  test('[S28] takes no messages and wakes no agents, keeps what it has, and takes messages again once it is unarchived', async () => {
    const { ada, bot, space } = await lobby(world, {}, { isIn: true });
    const first = await world.post(space, ada, 'Hello', { clientMessageId: 'one' });
    const archived = await archive(world, space);
    expect(archived).toEqual({ ...(await getSpace(world.store.db, space)), archivedAt: expect.any(Number) });
    // A second request changes nothing, and emits no event.
    expect(await archive(world, space)).toEqual(archived);
    await expect(world.post(space, ada, 'And?')).rejects.toMatchObject({
      code: 'space_archived',
      message: expect.stringContaining(`PATCH /api/spaces/${space} with { "archived": false }`),
    });
    // It was posted before, so a client that sends it again gets the same response.
    expect(await world.post(space, ada, 'Hello', { clientMessageId: 'one' })).toEqual(first);
    expect(await world.inbox(bot)).toHaveLength(1);
    expect(await storedSpace(world, bot)).toBeNull();
    expect(await textsIn(world, space)).toEqual(['Hello']);
    expect([await idsOf(world, ada), await idsOf(world, ada, 'only'), await idsOf(world, ada, 'include')]).toEqual([
      ...[[], [space], [space]],
    ]);
    expect(await change(world, space, { archived: false })).not.toHaveProperty('archivedAt');
    await world.post(space, ada, 'Back');
    expect(await textsIn(world, space)).toEqual(['Hello', 'Back']);
    expect(await world.inbox(bot)).toHaveLength(2);
    expect(await idsOf(world, ada)).toEqual([space]);
    const told = (await world.events(spaceStream(space))).filter(({ type }) => type === 'space.changed');
    expect(told.map(({ payload }) => 'archivedAt' in (payload as { space: object }).space)).toEqual([true, false]);
  });

  test('[S28] can be renamed like any other, and a refused name changes nothing', async () => {
    const space = await world.space('Old', [await world.person()]);
    await archive(world, space);
    expect(await change(world, space, { name: 'New', description: 'Now' })).toMatchObject({
      ...{ name: 'New', description: 'Now', archivedAt: expect.any(Number) },
    });
    await expect(change(world, space, { name: ' ', archived: false })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(await getSpace(world.store.db, space)).toMatchObject({ name: 'New', archivedAt: expect.any(Number) });
    await expect(change(world, 'none', { name: 'New' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('[S28] is no agent’s active space, even if a run begins in it while it is archived', async () => {
    const { bot, space } = await lobby(world);
    const agent = { id: bot, entityId: bot };
    const [woken] = await overlap(
      world.store,
      (hold) =>
        world.in(async (tx) => {
          const isIn = await wakeIn(tx, agent, space);
          await hold();
          return isIn;
        }),
      () => archive(other, space),
    );
    expect(woken).toBe(true);
    expect(await storedSpace(world, bot)).toBeNull();
    await change(world, space, { archived: false });
    const [, late] = await overlap(
      world.store,
      (hold) =>
        world.in(async (tx) => {
          await updateSpace(tx, space, { archived: true });
          await hold();
        }),
      () => other.in((tx) => wakeIn(tx, agent, space)),
    );
    expect(late).toMatchObject({ status: 'fulfilled', value: false });
    expect(await storedSpace(world, bot)).toBeNull();
  });
});

describeWorlds(
  'an agent whose space is archived',
  (open) => {
    const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });

    test('[S28] continues when its waiting call is answered: the card shows it, and the agent’s text stays in the run', async () => {
      const model = steps({ toolName: 'pay', input: {} }, 'I asked.', 'It is paid.');
      const world = await open({ models: { default: model }, tools: { pay: { tool: pay, visible: true } } });
      const { ada, bot, space } = await lobby(world, { tools: ['pay'], replies: undefined });
      await world.say(space, ada, 'Pay it.');
      await world.idle();
      expect(await textsIn(world, space)).toEqual(['Pay it.', 'requires_action', 'I asked.']);
      await archive(world, space);
      const call = await waitingOf(world, bot);
      const { runId } = await answer(world.services, { ...call, answer: { approve: true }, by: { entityId: ada } });
      await world.idle();
      expect(await textsIn(world, space)).toEqual(['Pay it.', 'complete', 'I asked.']);
      expect(await getRunDetails(world.store.db, runId)).toMatchObject({
        ...{ status: 'completed', response: 'It is paid.' },
      });
      expect(await storedSpace(world, bot)).toBeNull();
    });

    test('[S28] gets that error from its tools, may read it, and does not see it among its spaces', async () => {
      const calls = [
        { toolName: 'enter_space', input: { spaceId: '1' } },
        { toolName: 'read_messages', input: { spaceId: '1' } },
        { toolName: 'enter_space', input: { spaceId: '9' } },
      ];
      const model = steps(...calls);
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world);
      const office = await world.space('Office', [ada, bot]);
      await world.in((tx) => tx.db.updateTable('agents').set({ status: 'paused' }).where('id', '=', bot).execute());
      await world.say(space, ada, 'Before');
      await world.say(office, ada, 'Go');
      await archive(world, space);
      await world.in(async (tx) => {
        await tx.db.updateTable('agents').set({ status: 'active' }).where('id', '=', bot).execute();
        tx.wake(bot);
      });
      await world.idle();
      const [request] = model.requests;
      expect(situationOf(request as never).join('\n')).not.toContain('Lobby');
      const texts = JSON.stringify(model.requests.flatMap((one) => resultsOf(one as never)));
      expect(texts).toContain('The space \\"Lobby\\" is archived, so nothing can be posted in it.');
      expect(texts).toContain('Before');
      expect(texts).toContain('Your spaces: 2 (Office).');
      expect(await storedSpace(world, bot)).toBe(office);
    });

    test('[S28] cannot enter it in a draft either, and a fork of an earlier run can', async () => {
      const enter = { toolName: 'enter_space', input: { spaceId: '1' } };
      const model = steps(enter, 'I am in.', enter, 'I tried.', { toolName: 'enter_space', input: { spaceId: '01' } });
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world);
      const office = await world.space('Office', [ada, bot]);
      await world.say(office, ada, 'Go to the lobby.');
      await world.idle();
      await archive(world, space);
      const told = (invocation: number) => JSON.stringify(resultsOf(model.requests[invocation] as never));
      const runId = await lastRun(world, bot);
      await draft(world, bot, { message: 'Go to the lobby.' });
      expect(told(3)).toContain('The space \\"Lobby\\" is archived');
      await fork(world, runId, { instructions: 'Hurry.' });
      expect(told(5)).not.toContain('is archived');
    });

    test('[S28] ends the run that it is in, and nothing of it is posted', async () => {
      const space = { id: '' };
      const look = tool({
        description: 'Looks.',
        inputSchema: z.object({}),
        effects: 'none',
        execute: async () => {
          await archive(world, space.id);
          return 'Seen.';
        },
      });
      const model = steps(
        { toolName: 'look', input: {} },
        { toolName: 'send_message', input: { text: 'Hm.' } },
        'That is all.',
      );
      const world: World = await open({ models: { default: model }, tools: { look: { tool: look, visible: false } } });
      const { ada, bot, space: id } = await lobby(world, { tools: ['look'], replies: undefined });
      space.id = id;
      await world.say(id, ada, 'Look.');
      await world.idle();
      expect(await textsIn(world, id)).toEqual(['Look.']);
      const run = await world.store.db
        .selectFrom('runs')
        .select(['id', 'status'])
        .where('thread_id', '=', bot)
        .executeTakeFirstOrThrow();
      expect(run.status).toBe('completed');
      expect(JSON.stringify(resultsOf(model.requests.at(-1) as never))).toContain('You have no active space.');
      expect(await getRunDetails(world.store.db, run.id)).toMatchObject({ response: 'That is all.' });
    });
  },
  databases,
);
