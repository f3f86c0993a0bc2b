import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { redrive } from '../../src/domain/inbox/redrive.ts';
import { listMembers, removeMember } from '../../src/domain/spaces/membership.ts';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import type { World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: what is read is expected to be there.
async function told(world: World, spaceId: string): Promise<any[]> {
  const events = await world.events(spaceStream(spaceId));
  return events.filter(({ type }) => type === 'agent.failed').map(({ payload }) => payload);
}

const inbox = (world: World, bot: string) =>
  world.store.db
    .selectFrom('inbox_events')
    .select(['status', 'attempts', 'error'])
    .where('thread_id', '=', bot)
    .execute();

/** As providers' packages throw it. */
function providerError(statusCode: number, message: string): Error {
  return Object.assign(new Error(message), { name: 'AI_APICallError', statusCode, isRetryable: statusCode >= 500 });
}

describeWorlds('a run that fails', (open) => {
  test('[G59] people in the affected spaces see a failed run once for each attempt, with the time of the retry and without the error', async () => {
    const model = scriptedModel((_request, invocation) =>
      invocation < 3 ? new Error('secret sk-123 of the provider at line 7') : 'Done.',
    );
    const world = await open({ models: { default: model } });
    const { ada, bot, space } = await lobby(world);
    await world.say(space, ada, 'Hi');
    await world.idle();
    const runs = await world.store.db
      .selectFrom('runs')
      .select('id')
      .where('thread_id', '=', bot)
      .where('status', '=', 'failed')
      .orderBy('number')
      .execute();
    const failures = await told(world, space);
    expect(failures).toEqual(
      [1, 2].map((attempt) => ({
        runId: runs[attempt - 1]?.id,
        entityId: bot,
        attempt,
        retryAt: expect.any(Number),
        text: 'The model could not be asked, or did not answer. It tries again.',
      })),
    );
    expect(failures[1].retryAt).toBeGreaterThan(failures[0].retryAt);
  });

  test('[G59] a failed run is shown without a time if it is not retried, and again after it was redriven', async () => {
    const model = scriptedModel(() => providerError(500, 'internal host 10.0.0.7 is down'));
    const world = await open({ models: { default: model }, agentLimits: { maxAttempts: 1 } });
    const { ada, bot, space } = await lobby(world, {}, { isIn: true });
    await world.say(space, ada, 'Hi');
    await world.idle();
    const text = 'The provider of the model had an error. It does not try again by itself.';
    expect(await told(world, space)).toEqual([{ runId: expect.any(String), entityId: bot, attempt: 1, text }]);
    await world.store.transaction((tx) => redrive(tx, { agentId: bot }));
    await world.idle();
    expect(await told(world, space)).toHaveLength(2);
    // Where it was shown as active it is shown as inactive afterwards.
    const types = (await world.events(spaceStream(space))).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('agent.'))).toEqual([
      ...['agent.active', 'agent.failed', 'agent.inactive'],
      ...['agent.active', 'agent.failed', 'agent.inactive'],
    ]);
  });

  test('a failure stays on the member of the space until the run is retried, redriven, or the agent writes there', async () => {
    const gate = Promise.withResolvers<void>();
    const model = scriptedModel(async ({ prompt }, invocation) => {
      if (invocation === 2) await gate.promise;
      if (invocation < 3) return providerError(429, 'rate limit of sk-123');
      const hasWritten = JSON.stringify(prompt).includes('Here I am');
      return hasWritten ? 'Done.' : { toolName: 'send_message', input: { text: 'Here I am' } };
    });
    const world = await open({ models: { default: model }, agentLimits: { maxAttempts: 1 } });
    const { ada, bot, space } = await lobby(world, {}, { isIn: true });
    const other = await world.space('Other', [ada, bot]);
    const failure = async (spaceId = space) =>
      (await listMembers(world.store.db, { spaceId })).items.find(({ entityId }) => entityId === bot)?.failure;
    await world.say(space, ada, 'Hi');
    await world.idle();
    const text = 'The provider of the model takes no more requests for now. It does not try again by itself.';
    const [{ runId }] = (await told(world, space)) as [{ runId: string }];
    expect(await failure()).toEqual({ runId, text, at: expect.any(Number) });
    expect(await failure(other)).toBeUndefined();

    // It is retried: the previous failure does not matter any more.
    await world.store.transaction((tx) => redrive(tx, { agentId: bot }));
    await expect.poll(() => model.requests.length).toBe(2);
    expect(await failure()).toBeUndefined();
    gate.resolve();
    await world.idle();
    expect(await failure()).toMatchObject({ text });
    expect((await failure())?.runId).not.toBe(runId);

    await world.say(space, ada, 'Are you there?');
    await world.idle();
    expect(await failure()).toBeUndefined();
  });

  test('[G59] a failed run is shown where the agent worked and where its events came from, and nowhere else', async () => {
    const gate = Promise.withResolvers<void>();
    const place: { worked?: string } = {};
    const model = scriptedModel(async (_request, invocation) => {
      if (invocation === 1) return { toolName: 'enter_space', input: { spaceId: place.worked } };
      await gate.promise;
      return new Error('broken');
    });
    const world = await open({ models: { default: model }, agentLimits: { maxAttempts: 1 } });
    const { ada, bot, space: worked } = await lobby(world);
    place.worked = worked;
    const [asked, left, other] = [
      await world.space('Asked', [ada, bot]),
      await world.space('Left', [ada, bot]),
      await world.space('Other', [ada, bot]),
    ];
    await world.say(asked, ada, 'one');
    await expect.poll(() => model.requests.length).toBe(2);
    await world.say(left, ada, 'two');
    await world.store.transaction((tx) => removeMember(tx, { spaceId: left, entityId: bot }));
    gate.resolve();
    await world.idle();
    expect(await told(world, asked)).toHaveLength(1);
    // It worked there in both runs.
    expect(await told(world, worked)).toHaveLength(2);
    expect([await told(world, left), await told(world, other)]).toEqual([[], []]);
  });

  test.each([401, 403, 404])(
    '[G59] because the provider answered %i is not retried: its events are dead at once, with the error, and can be redriven',
    async (status) => {
      let isMended = false;
      const model = scriptedModel(() => (isMended ? 'Done.' : providerError(status, 'No such thing.')));
      const world = await open({ models: { default: model }, agentLimits: { maxAttempts: 5 } });
      const { ada, bot, space } = await lobby(world);
      await world.say(space, ada, 'Hi');
      await world.idle();
      expect(model.requests).toHaveLength(1);
      expect(await inbox(world, bot)).toEqual([
        { status: 'dead', attempts: 1, error: expect.stringContaining('No such thing.') },
      ]);
      const why =
        status === 404 ? 'its model does not exist at the provider.' : 'the provider of its model has no valid key.';
      const text = `The agent cannot work as it is set up: ${why} It does not try again by itself.`;
      expect(await told(world, space)).toEqual([{ runId: expect.any(String), entityId: bot, attempt: 1, text }]);
      isMended = true;
      await world.store.transaction((tx) => redrive(tx, { agentId: bot }));
      await world.idle();
      expect(await inbox(world, bot)).toMatchObject([{ status: 'done' }]);
      expect(await told(world, space)).toHaveLength(1);
    },
  );

  test('[G59] a run that fails because its configuration names a missing tool is not retried', async () => {
    const world = await open({ models: { default: scriptedModel(() => 'Done.') } });
    const { ada, bot, space } = await lobby(world, { tools: ['gone'] });
    await world.say(space, ada, 'Hi');
    await world.idle();
    expect(await inbox(world, bot)).toMatchObject([{ status: 'dead', attempts: 1 }]);
    expect(await told(world, space)).toMatchObject([{ attempt: 1, text: expect.stringContaining('as it is set up') }]);
  });
});
