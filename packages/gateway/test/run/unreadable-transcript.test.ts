import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { getAgent } from '../../src/domain/agents/agent.ts';
import { pauseAgent, resumeAgent } from '../../src/domain/agents/pause-agent.ts';
import { redrive } from '../../src/domain/inbox/redrive.ts';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import type { World } from '../support/world.ts';

const TEXT = "The agent's stored transcript cannot be read. It does not try again by itself.";

const inbox = (world: World, bot: string) =>
  world.store.db.selectFrom('inbox_events').select(['status', 'error']).where('thread_id', '=', bot).orderBy('id');

const runs = (world: World, bot: string) =>
  world.store.db.selectFrom('runs').select(['status', 'stop']).where('thread_id', '=', bot).orderBy('number');

async function told(world: World, space: string): Promise<unknown[]> {
  const events = await world.events(spaceStream(space));
  return events.filter(({ type }) => type === 'agent.failed').map(({ payload }) => payload);
}

/** Another gateway's claims in between, so that the cache of this worker is not used. */
const forget = (world: World, bot: string) =>
  world.store.transaction((tx) =>
    tx.db
      .updateTable('threads')
      .set((eb) => ({ epoch: eb('epoch', '+', 5) }))
      .where('id', '=', bot)
      .execute(),
  );

/** Replaces the first message's row, and returns a function that restores it. */
async function damage(
  world: World,
  bot: string,
  payload: string,
  { isHeld = false } = {},
): Promise<() => Promise<unknown>> {
  const rows = world.store.db.selectFrom('transcript_entries').select(['seq', 'payload']);
  const mine = rows.where('thread_id', '=', bot).where('kind', '=', 'message').orderBy('seq');
  const { seq, payload: whole } = await mine.executeTakeFirstOrThrow();
  const write = (text: string) =>
    world.store.transaction((tx) =>
      tx.db
        .updateTable('transcript_entries')
        .set({ payload: text })
        .where('thread_id', '=', bot)
        .where('seq', '=', seq)
        .execute(),
    );
  await write(payload);
  if (!isHeld) await forget(world, bot);
  return async () => {
    await write(whole);
    await forget(world, bot);
  };
}

const DAMAGES = [
  ['no JSON', '{"entry": <inbox'],
  ['no entry', '{}'],
  ['a message of nobody', '{"entry":{"kind":"message","message":{"role":"robot","content":[]}}}'],
  ['a reply without calls', '{"entry":{"kind":"reply","step":1}}'],
] as const;

describeWorlds('a stored transcript that cannot be read', (open) => {
  test.each(DAMAGES)(
    '[G11] [G59] a transcript that cannot be read because a row has %s makes waiting events dead with the error, shown once, and they are redriven once it is repaired',
    async (_what, payload) => {
      const model = scriptedModel(() => 'Done.');
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world);
      await world.say(space, ada, 'one');
      await world.idle();
      const mend = await damage(world, bot, payload);
      await world.say(space, ada, 'two');
      await world.idle();
      expect(model.requests).toHaveLength(1);
      const failure = expect.stringContaining("The agent's stored transcript cannot be read");
      expect(await inbox(world, bot).execute()).toEqual([
        { status: 'done', error: null },
        { status: 'dead', error: failure },
      ]);
      expect(await runs(world, bot).execute()).toMatchObject([
        { status: 'completed' },
        { status: 'failed', stop: failure },
      ]);
      expect(await told(world, space)).toEqual([{ runId: expect.any(String), entityId: bot, attempt: 1, text: TEXT }]);
      expect((await getAgent(world.store.db, bot)).lastError).toMatchObject({ reason: 'error' });
      const { lease_owner } = await world.store.db
        .selectFrom('threads')
        .select('lease_owner')
        .where('id', '=', bot)
        .executeTakeFirstOrThrow();
      expect(lease_owner).toBeNull();
      await mend();
      await world.store.transaction((tx) => redrive(tx, { agentId: bot }));
      await world.idle();
      expect(await inbox(world, bot).execute()).toMatchObject([{ status: 'done' }, { status: 'done' }]);
      expect(JSON.stringify(model.requests[1]?.prompt)).toMatch(/m\d+ Ada(, [^:]*)?: two/);
    },
  );

  test('[G41] [G59] a transcript that cannot be read ends the run that a dead worker left as failed, with its calls in doubt', async () => {
    const model = scriptedModel(() => 'Done.');
    const world = await open({ models: { default: model } });
    const { ada, bot, space } = await lobby(world, {}, { isIn: true });
    await world.say(space, ada, 'one');
    await world.idle();
    await damage(world, bot, '{}');
    // As left by a worker that dies during a payment.
    const { id: runId } = await world.store.db
      .selectFrom('runs')
      .select('id')
      .where('thread_id', '=', bot)
      .executeTakeFirstOrThrow();
    await world.store.transaction(async (tx) => {
      const call = {
        thread_id: bot,
        agent_id: bot,
        run_id: runId,
        step: 1,
        index: 0,
        tool_name: 'pay',
        input: '"{}"',
        outcome: null,
      };
      const keys = { idempotency_key: 'c', provider_call_id: null, created_at: 1, settled_at: null };
      await tx.db
        .insertInto('calls')
        .values({ id: runId, status: 'started', ...call, ...keys })
        .execute();
      await tx.db.updateTable('inbox_events').set({ status: 'claimed' }).where('run_id', '=', runId).execute();
      await tx.db.updateTable('runs').set({ status: 'running', stop: null }).where('id', '=', runId).execute();
    });
    await world.idle();
    expect(await runs(world, bot).execute()).toMatchObject([{ status: 'failed' }]);
    expect(await inbox(world, bot).execute()).toMatchObject([{ status: 'dead' }]);
    const call = world.store.db.selectFrom('calls').select(['status', 'outcome']).where('id', '=', runId);
    expect(await call.execute()).toEqual([{ status: 'settled', outcome: expect.stringContaining('unknown_outcome') }]);
    expect(await told(world, space)).toHaveLength(1);
    const events = await world.events(`run:${runId}`);
    expect(events.filter(({ type }) => type.startsWith('tool-call.'))).toMatchObject([
      { type: 'tool-call.error', payload: { callId: runId, toolName: 'pay', outcome: { code: 'unknown_outcome' } } },
    ]);
  });

  test('[G59] a transcript that cannot be read does not affect other agents, and starts no runs except for new events', async () => {
    const world = await open({ models: { default: scriptedModel(() => 'Done.') } });
    const { ada, bot, space } = await lobby(world);
    await world.say(space, ada, 'one');
    await world.idle();
    await damage(world, bot, '{}');
    const other = await world.agent('Other');
    const both = await world.space('Both', [ada, bot, other]);
    await world.say(both, ada, 'two');
    await world.idle();
    expect(await inbox(world, other).execute()).toMatchObject([{ status: 'done' }]);
    await world.say(both, ada, 'three');
    await world.idle();
    expect(await inbox(world, bot).execute()).toMatchObject([
      { status: 'done' },
      { status: 'dead' },
      { status: 'dead' },
    ]);
    expect(await told(world, both)).toHaveLength(2);
  });

  test.each([
    ['no JSON', '{"seq":'],
    ['no session', '{"seq":0,"session":{"version":7}}'],
    ['a slice without a state', '{"seq":0,"session":{"version":1,"slices":{"cart":{"version":1}}}}'],
  ])(
    '[G59] [A6] a stored session that is damaged (%s) makes the agent invalid with a sentence, and events go on waiting',
    async (_what, state) => {
      const world = await open({ models: { default: scriptedModel(() => 'Done.') } });
      const { ada, bot, space } = await lobby(world);
      await world.store.transaction((tx) =>
        tx.db.updateTable('threads').set({ state }).where('id', '=', bot).execute(),
      );
      await world.say(space, ada, 'one');
      await world.idle();
      expect(await inbox(world, bot).execute()).toMatchObject([{ status: 'pending' }]);
      const { status, lastError } = await getAgent(world.store.db, bot);
      expect(status).toBe('invalid');
      expect(lastError).toMatchObject({ error: expect.stringContaining("The agent's stored session cannot be read.") });
      expect(await told(world, space)).toMatchObject([{ text: expect.stringContaining('session cannot be read.') }]);
      const kept = world.store.db.selectFrom('threads').select('state').where('id', '=', bot);
      expect(await kept.executeTakeFirstOrThrow()).toEqual({ state });
      // Once it is repaired, the agent continues by itself.
      await world.in((tx) => tx.db.updateTable('threads').set({ state: null }).where('id', '=', bot).execute());
      await world.in((tx) => resumeAgent(tx, bot));
      await world.idle();
      expect(await inbox(world, bot).execute()).toMatchObject([{ status: 'done' }]);
    },
  );

  test('[G11] a transcript that cannot be read and was damaged while its run failed does not keep the thread', async () => {
    const model = scriptedModel(async () => {
      await damage(world, bot, '{}', { isHeld: true });
      return new Error('overloaded');
    });
    const world = await open({ models: { default: model }, agentLimits: { maxAttempts: 1 } });
    const { ada, bot, space } = await lobby(world);
    await world.say(space, ada, 'one');
    await world.idle();
    expect(await inbox(world, bot).execute()).toMatchObject([
      { status: 'dead', error: expect.stringContaining('overloaded') },
    ]);
    const thread = world.store.db.selectFrom('threads').select('lease_owner').where('id', '=', bot);
    expect(await thread.executeTakeFirstOrThrow()).toEqual({ lease_owner: null });
    expect(world.logs.filter(({ message }) => message.includes('could not be compacted'))).toHaveLength(1);
  });
});

describeWorlds('a stored event that cannot be read', (open) => {
  test('[G11] a waiting event whose row is damaged is dead with the error, and the events after it are not held up', async () => {
    const model = scriptedModel(() => 'Done.');
    const world = await open({ models: { default: model } });
    const { ada, bot, space } = await lobby(world);
    await world.in((tx) => pauseAgent(tx, bot));
    await world.say(space, ada, 'one');
    const write = (payload: string) =>
      world.in((tx) => tx.db.updateTable('inbox_events').set({ payload }).where('thread_id', '=', bot).execute());
    await write('{"type":"space_mess');
    await world.say(space, ada, 'two');
    await world.in((tx) => resumeAgent(tx, bot));
    await world.idle();
    expect(await inbox(world, bot).execute()).toEqual([
      { status: 'dead', error: expect.stringContaining('The stored event cannot be read. Unterminated string') },
      { status: 'done', error: null },
    ]);
    expect(JSON.stringify(model.requests[0]?.prompt)).toMatch(/m\d+ Ada(, [^:]*)?: two/);
    expect(world.logs.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^Event message:\S+ of thread \S+ is dead\. The stored event cannot be read\./),
    );
  });
});
