import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { checkTools } from '../../src/config/registered-tool.ts';
import { redrive } from '../../src/domain/inbox/redrive.ts';
import { runStream, spaceStream } from '../../src/domain/streams/stream-names.ts';
import { userMessage } from '../../src/domain/transcript/split-runs.ts';
import { toEntryPayload } from '../../src/domain/transcript/transcript-row.ts';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import { awaitRun } from '../../src/runtime/chat/await-run.ts';
import { excuseTakeover } from '../../src/runtime/claim/excuse-takeover.ts';
import { giveUpThread } from '../../src/runtime/claim/give-up-thread.ts';
import { claimNextRun } from '../../src/runtime/claim/next-run.ts';
import { TranscriptCache } from '../../src/runtime/claim/transcript-cache.ts';
import { performRun } from '../../src/runtime/loops/perform-run.ts';
import { RunInterrupted } from '../../src/runtime/loops/run-interrupted.ts';
import { ToolCaches } from '../../src/runtime/toolset/tool-caches.ts';
import { until } from '../processes/until.ts';
import { chatWith } from '../support/conversations.ts';
import { describeIdleWorld, describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { neverCancelled } from '../support/never-cancelled.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';

/** Another worker claims the thread. Returns undefined if there was nothing to claim. */
const claim = (world: World, threadId: string, services = world.services, owner: string = crypto.randomUUID()) =>
  claimNextRun(services, world.registry, threadId, {
    owner,
    isUrgent: false,
    transcriptCache: new TranscriptCache(),
  });

/** The worker dies: its lease is not renewed. */
const die = (world: World, threadId: string) =>
  world.in((tx) => tx.db.updateTable('threads').set({ lease_until: 0 }).where('id', '=', threadId).execute());

async function claimAndDie(world: World, threadId: string): Promise<void> {
  if ((await claim(world, threadId)) === undefined) throw new Error('There was nothing to claim.');
  await die(world, threadId);
}

const runsOf = async (world: World, threadId: string) =>
  (
    await world.store.db.selectFrom('runs').selectAll().where('thread_id', '=', threadId).orderBy('number').execute()
  ).map(({ id, status, stop }) => ({ id, status, stop: stop === null ? undefined : fromJson<object>(stop) }));

const inboxOf = (world: World, threadId: string) =>
  world.store.db.selectFrom('inbox_events').select(['event_id', 'status']).where('thread_id', '=', threadId).execute();

const NO_PROGRESS = { reason: 'error', code: 'no_progress', error: expect.stringContaining('without progress') };

describeIdleWorld('a run that no worker survives', ({ world }) => {
  test('[X27] a run that is taken over for the third time without progress fails with that reason, and its events can be redriven', async () => {
    const { ada, bot, space } = await lobby(world, {}, { isIn: true });
    await world.say(space, ada, 'Go');
    for (let deaths = 0; deaths < 3; deaths++) await claimAndDie(world, bot);
    expect(await claim(world, bot)).toBeUndefined();
    const [run] = await runsOf(world, bot);
    expect(run).toMatchObject({ status: 'failed', stop: NO_PROGRESS });
    const [event] = await inboxOf(world, bot);
    expect(event?.status).toBe('dead');
    const told = (await world.events(spaceStream(space))).filter(({ type }) => type.startsWith('agent.'));
    expect(told.map(({ type }) => type)).toEqual(['agent.active', 'agent.failed', 'agent.inactive']);
    expect(told[1]?.payload).toMatchObject({ text: expect.stringContaining('It does not try again by itself.') });
    const ends = (await world.events(runStream(run?.id ?? ''))).filter(({ type }) => type === 'run.end');
    expect(ends).toMatchObject([{ payload: { status: 'failed', stop: NO_PROGRESS } }]);
    // The thread is free: the agent handles new events, and redriven ones.
    await world.in((tx) => redrive(tx, { agentId: bot, eventIds: [event?.event_id ?? ''] }));
    expect((await claim(world, bot))?.run.number).toBe(2);
  });

  test('[X27] a chat request whose run no worker survives is answered with the failure', async () => {
    const chat = await chatWith(world);
    const { runId } = await chat.start({ message: 'Go' });
    for (let deaths = 0; deaths < 3; deaths++) await claimAndDie(world, chat.contextId);
    expect(await claim(world, chat.contextId)).toBeUndefined();
    expect(await awaitRun(world.services, runId)).toMatchObject({ status: 'failed', stop: NO_PROGRESS });
  });

  test('[X27] a takeover after progress resets the count', async () => {
    const { ada, bot, space } = await lobby(world);
    await world.say(space, ada, 'Go');
    for (let deaths = 0; deaths < 3; deaths++) await claimAndDie(world, bot);
    const [run] = await runsOf(world, bot);
    const payload = toEntryPayload({ entry: userMessage('More.') });
    const entry = { thread_id: bot, run_id: run?.id ?? '', seq: 3, kind: 'message', payload, created_at: Date.now() };
    await world.in((tx) => tx.db.insertInto('transcript_entries').values(entry).execute());
    for (let deaths = 0; deaths < 2; deaths++) await claimAndDie(world, bot);
    expect(await runsOf(world, bot)).toMatchObject([{ status: 'running' }]);
    expect(await claim(world, bot)).toBeUndefined();
    expect(await runsOf(world, bot)).toMatchObject([{ status: 'failed', stop: NO_PROGRESS }]);
  });

  test('[X27] a worker that stops gracefully does not count, however often that happens', async () => {
    const { ada, bot, space } = await lobby(world);
    await world.say(space, ada, 'Go');
    for (let deploys = 0; deploys < 5; deploys++) {
      const claimed = await claim(world, bot);
      if (claimed === undefined) throw new Error('There was nothing to claim.');
      await giveUpThread(world.services, claimed.lease);
    }
    for (let deaths = 0; deaths < 3; deaths++) await claimAndDie(world, bot);
    expect(await runsOf(world, bot)).toMatchObject([{ status: 'running' }]);
    expect(await claim(world, bot)).toBeUndefined();
    expect(await runsOf(world, bot)).toMatchObject([{ status: 'failed', stop: NO_PROGRESS }]);
  });

  test('[X27] a worker that finds its own run, because the confirmation of its claim was lost, does not count', async () => {
    const { ada, bot, space } = await lobby(world);
    await world.say(space, ada, 'Go');
    for (let losses = 0; losses < 6; losses++) {
      expect(await claim(world, bot, world.services, 'alive')).toBeDefined();
      await die(world, bot);
    }
    for (let deaths = 0; deaths < 2; deaths++) await claimAndDie(world, bot);
    expect(await runsOf(world, bot)).toMatchObject([{ status: 'running' }]);
    expect(await claim(world, bot)).toBeUndefined();
    expect(await runsOf(world, bot)).toMatchObject([{ status: 'failed', stop: NO_PROGRESS }]);
  });

  test('[X27] a takeover is counted before anything of the run is read', async () => {
    const { ada, bot, space } = await lobby(world);
    await world.say(space, ada, 'Go');
    await claimAndDie(world, bot);
    for (let deaths = 0; deaths < 2; deaths++) {
      let count = 0;
      // The process dies in the transaction after the claim.
      const transaction: World['store']['transaction'] = (work, options) =>
        ++count === 1 ? world.store.transaction(work, options) : Promise.reject(new Error('The process died.'));
      const { dialect, db, ping, close, reclaim } = world.store;
      const store = { dialect, db, ping, close, reclaim, isBusy: false, claimsAtOnce: 8, rowsAtOnce: 100, transaction };
      await expect(claim(world, bot, { ...world.services, store })).rejects.toThrow('The process died.');
      await die(world, bot);
    }
    expect(await claim(world, bot)).toBeUndefined();
    expect(await runsOf(world, bot)).toMatchObject([{ status: 'failed', stop: NO_PROGRESS }]);
  });
});

describeIdleWorld('a call that no worker survives', ({ world }) => {
  test('[X27] [G57] [G64] a call that is started again by each worker and kills each of them has an unknown outcome, on its card too', async () => {
    const { bot, space, takeUp, stop } = await hangingCall(world);
    for (let deaths = 1; deaths <= 3; deaths++) expect(await takeUp()).toBeDefined();
    expect(await takeUp()).toBeUndefined();
    stop();
    expect(await runsOf(world, bot)).toMatchObject([{ status: 'failed', stop: NO_PROGRESS }]);
    const calls = await world.store.db.selectFrom('calls').select(['outcome']).execute();
    expect(calls).toEqual([{ outcome: expect.stringContaining('unknown_outcome') }]);
    const cards = world.store.db.selectFrom('messages').select('status').where('space_id', '=', space);
    expect(await cards.where('kind', '=', 'tool').execute()).toEqual([{ status: 'error' }]);
    // The space sees one end of the call, which does not say that it never ran.
    const shown = (await world.events(spaceStream(space))).map(({ type }) => type);
    expect(shown.filter((type) => /^tool-call\.(complete|error|cancelled)$/.test(type))).toEqual(['tool-call.error']);
  });

  test('[X27] [G47] the end of a run leaves what other runs show in its spaces as it is', async () => {
    const { space, takeUp, stop } = await hangingCall(world);
    expect(await takeUp()).toBeDefined();
    const other = { streamId: 'other', callId: 'other', toolName: 'pay', entityId: 'other', runId: 'other run' };
    await world.in(async (tx) => tx.emit({ stream: spaceStream(space), type: 'tool-call.start', payload: other }));
    for (let deaths = 2; deaths <= 3; deaths++) expect(await takeUp()).toBeDefined();
    expect(await takeUp()).toBeUndefined();
    stop();
    const ofOther = (await world.events(spaceStream(space))).filter(
      ({ payload }) => (payload as { readonly callId?: unknown }).callId === 'other',
    );
    expect(ofOther.map(({ type }) => type)).toEqual(['tool-call.start']);
  });

  test('[X27] a call that blocks each worker until its lease is lost, and is started again by the next, ends too', async () => {
    const { bot, takeUp, stop } = await hangingCall(world);
    let takeovers = 0;
    for (let runId = await takeUp(); runId !== undefined; runId = await takeUp()) {
      takeovers++;
      // The previous worker continues and finds its lease lost.
      await excuseTakeover(world.store, runId);
      if (takeovers > 30) break;
    }
    stop();
    expect(takeovers).toBe(20);
    expect(await runsOf(world, bot)).toMatchObject([{ status: 'failed', stop: NO_PROGRESS }]);
  });
});

/** An agent whose idempotent call never returns. `takeUp` is a worker that starts the call and dies. */
async function hangingCall(world: World) {
  let paid = 0;
  const pay = tool({
    description: 'Pays.',
    inputSchema: z.object({}),
    idempotent: true,
    execute: async () => {
      paid++;
      return await new Promise<never>(() => {});
    },
  });
  const tools = checkTools({ pay }, ['tools']);
  if (!tools.ok) throw new Error('The tools are wrong.');
  const model = scriptedModel(() => ({ toolName: 'pay' }));
  const registry = { tools: tools.value, model: () => model, agentLimits: {}, toolCaches: new ToolCaches() };
  const { ada, bot, space } = await lobby(world, { tools: ['pay'] }, { isIn: true });
  await world.say(space, ada, 'Pay');
  const abort = new AbortController();
  const takeUp = async (): Promise<string | undefined> => {
    const claimed = await claim({ ...world, registry }, bot);
    if (claimed === undefined) return undefined;
    const before = paid;
    void performRun(world.services, registry, claimed.run, neverCancelled(abort)).catch(() => {});
    await until('the call runs', () => paid === before + 1);
    await die(world, bot);
    return claimed.run.runId;
  };
  return { bot, space, takeUp, stop: () => abort.abort(new RunInterrupted()) };
}

describeWorlds(
  'a worker that is slow',
  (open) => {
    test('[X27] a worker that finds its lease lost does not count, because the run did not stop it', async () => {
      let asked = 0;
      const model = scriptedModel(() => 'Done.');
      const slow: typeof model = {
        ...model,
        doStream: async (options) =>
          ++asked <= 4 ? await new Promise<never>(() => {}) : await model.doStream(options),
      };
      const world = await open({ models: { default: slow }, limits: { leaseMs: 600, graceMs: 500 } });
      const { ada, bot, space } = await lobby(world);
      await world.say(space, ada, 'Go');
      for (let losses = 1; losses <= 4; losses++) {
        await until('the model is asked', () => asked === losses);
        await world.in((tx) =>
          tx.db
            .updateTable('threads')
            .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_owner: null, lease_until: 0 }))
            .where('id', '=', bot)
            .execute(),
        );
      }
      await world.idle();
      expect(await runsOf(world, bot)).toMatchObject([{ status: 'completed' }]);
    });
  },
  databases,
);
