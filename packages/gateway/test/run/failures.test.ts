import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { deleteAgent } from '../../src/domain/agents/delete-agent.ts';
import { pauseAgent, resumeAgent } from '../../src/domain/agents/pause-agent.ts';
import { updateAgent } from '../../src/domain/agents/update-agent.ts';
import { redrive } from '../../src/domain/inbox/redrive.ts';
import { requestCancel } from '../../src/domain/runs/request-cancel.ts';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { inboxLines, inboxOf, resultsOf, systemOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';

const inbox = (world: World, bot: string) =>
  world.store.db
    .selectFrom('inbox_events')
    .select(['status', 'attempts', 'error'])
    .where('thread_id', '=', bot)
    .orderBy('id')
    .execute();

describeWorlds(
  'a run',
  (open) => {
    test('[G11] a run that fails is retried with its events, and says which attempt it is', async () => {
      const model = scriptedModel((_request, invocation) => (invocation < 3 ? new Error('overloaded') : 'Done.'));
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world);
      await world.say(space, ada, 'Hi');
      await world.idle();
      expect(await inbox(world, bot)).toMatchObject([{ status: 'done', attempts: 3 }]);
      expect(inboxLines(model.requests[2] as never)).toContain('m1 Ada, attempt 3: Hi');
      const runs = await world.store.db
        .selectFrom('runs')
        .select('status')
        .where('thread_id', '=', bot)
        .orderBy('number')
        .execute();
      expect(runs.map(({ status }) => status)).toEqual(['failed', 'failed', 'completed']);
    });

    test('[G11] a run that fails too often leaves its events dead with the error, does not block later ones, and can be redriven', async () => {
      let isBroken = true;
      const model = scriptedModel((request) =>
        isBroken && inboxOf(request).some(({ data }) => data.text === 'poison')
          ? new Error('cannot read that')
          : 'Done.',
      );
      const world = await open({ models: { default: model }, agentLimits: { maxAttempts: 2 } });
      const { ada, bot, space } = await lobby(world);
      await world.say(space, ada, 'poison');
      await world.idle();
      await world.say(space, ada, 'later');
      await world.idle();
      const events = await inbox(world, bot);
      expect(events).toMatchObject([
        { status: 'dead', attempts: 2 },
        { status: 'done', attempts: 1 },
      ]);
      expect(events[0]?.error).toContain('cannot read that');
      isBroken = false;
      await world.store.transaction((tx) => redrive(tx, { agentId: bot }));
      await world.idle();
      expect(await inbox(world, bot)).toMatchObject([{ status: 'done' }, { status: 'done' }]);
      expect(inboxOf(model.requests.at(-1) as never).map(({ data }) => data.text)).toEqual(['poison']);
    });

    test('[G15] a changed configuration applies from the next run; an invalid one is refused with its path, and the old one stays', async () => {
      const model = scriptedModel(() => 'Done.');
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world, { instructions: 'Be brief.' });
      await world.say(space, ada, 'one');
      await world.idle();
      const change = (config: Record<string, unknown>) =>
        world.store.transaction((tx) => updateAgent(tx, { agentId: bot, config }));
      await change({ instructions: 'Be long.' });
      await expect(change({ limits: { maxSteps: 0 } })).rejects.toMatchObject({
        code: 'invalid_config',
        details: { path: 'limits.maxSteps' },
      });
      await world.say(space, ada, 'two');
      await world.idle();
      expect(model.requests.map((request) => systemOf(request).split('\n')[0])).toEqual(['Be brief.', 'Be long.']);
    });

    test('[G16] pause finishes the current run and starts no other; events wait until the agent is resumed', async () => {
      const gate = Promise.withResolvers<void>();
      const model = scriptedModel(async (_request, invocation) => {
        if (invocation === 1) await gate.promise;
        return 'Done.';
      });
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world);
      await world.say(space, ada, 'one');
      await expect.poll(() => model.requests.length).toBe(1);
      await world.store.transaction((tx) => pauseAgent(tx, bot));
      await world.say(space, ada, 'two');
      gate.resolve();
      await expect.poll(async () => (await inbox(world, bot)).map(({ status }) => status)).toEqual(['done', 'pending']);
      await expect.poll(() => world.worker.busy).toBe(0);
      expect(model.requests).toHaveLength(1);
      await world.store.transaction((tx) => resumeAgent(tx, bot));
      await world.idle();
      expect((await inbox(world, bot)).map(({ status }) => status)).toEqual(['done', 'done']);
    });

    test.each(['a cancel', 'a timeout'])(
      '[G57] the result of a payment that %s cuts off says that it may have taken effect',
      async (how) => {
        const inside = Promise.withResolvers<void>();
        const leave = Promise.withResolvers<void>();
        const pay = tool({
          description: 'Pays.',
          inputSchema: z.object({}),
          ...(how === 'a timeout' ? { timeoutMs: 50 } : {}),
          async execute() {
            inside.resolve();
            await leave.promise;
            return 'paid';
          },
        });
        const model = scriptedModel((request) => (resultsOf(request).length === 0 ? { toolName: 'pay' } : 'Done.'));
        const world = await open({ models: { default: model }, tools: { pay: { tool: pay, visible: false } } });
        const { ada, bot, space } = await lobby(world, { tools: ['pay'] }, { isIn: true });
        await world.say(space, ada, 'Pay');
        await inside.promise;
        if (how === 'a cancel') {
          const runs = world.store.db.selectFrom('runs').select('id').where('thread_id', '=', bot);
          const { id } = await runs.executeTakeFirstOrThrow();
          await world.store.transaction((tx) => requestCancel(tx, id));
          await world.idle();
          // The result that the next run reads.
          await world.say(space, ada, 'Did you pay?');
        }
        await world.idle();
        leave.resolve();
        const results = resultsOf(model.requests.at(-1) as never);
        expect(results).toHaveLength(1);
        expect(results[0]?.text).toMatch(/outside may have taken effect/);
        expect(results[0]?.text).not.toMatch(/nothing/i);
        const { status, outcome } = await world.store.db
          .selectFrom('calls')
          .select(['status', 'outcome'])
          .where('agent_id', '=', bot)
          .where('tool_name', '=', 'pay')
          .executeTakeFirstOrThrow();
        expect([status, JSON.parse(outcome ?? '{}')]).toMatchObject([
          'settled',
          { status: 'error', code: how === 'a cancel' ? 'aborted' : 'timeout', effect: 'possible' },
        ]);
      },
    );

    test('[G16] cancel aborts model and tools, settles what was open, and no later write lands', async () => {
      const inside = Promise.withResolvers<void>();
      const leave = Promise.withResolvers<void>();
      const returned = Promise.withResolvers<void>();
      let signal: AbortSignal | undefined;
      const slow = tool({
        description: 'Takes its time.',
        inputSchema: z.object({}),
        async execute(_input, { abortSignal }) {
          signal = abortSignal;
          inside.resolve();
          await leave.promise;
          returned.resolve();
          return 'too late';
        },
      });
      const model = scriptedModel((_request, invocation) =>
        invocation === 1 ? [{ toolName: 'slow' }, { toolName: 'send_message', input: { text: 'late' } }] : 'Done.',
      );
      const world = await open({ models: { default: model }, tools: { slow: { tool: slow, visible: false } } });
      const { ada, bot, space } = await lobby(world, { tools: ['slow'] }, { isIn: true });
      await world.say(space, ada, 'go');
      await inside.promise;
      const run = await world.store.db
        .selectFrom('runs')
        .select('id')
        .where('thread_id', '=', bot)
        .executeTakeFirstOrThrow();
      expect(signal?.aborted).toBe(false);
      await world.store.transaction((tx) => requestCancel(tx, run.id));
      await world.idle();
      expect(signal?.aborted).toBe(true);
      // The tool returns after its call was settled. Nothing that it returns is written.
      leave.resolve();
      await returned.promise;
      await new Promise(setImmediate);
      await world.idle();
      expect(model.requests).toHaveLength(1);
      const ended = await world.store.db
        .selectFrom('runs')
        .select(['status', 'stop'])
        .where('id', '=', run.id)
        .executeTakeFirstOrThrow();
      expect(ended).toEqual({ status: 'cancelled', stop: '{"reason":"aborted"}' });
      const calls = await world.store.db
        .selectFrom('calls')
        .select(['tool_name', 'status', 'outcome'])
        .where('run_id', '=', run.id)
        .orderBy('index')
        .execute();
      expect(calls.map(({ tool_name, status }) => [tool_name, status])).toEqual([
        ['slow', 'settled'],
        ['send_message', 'settled'],
      ]);
      expect(JSON.parse(calls[0]?.outcome ?? '{}')).toMatchObject({ status: 'error', code: 'aborted' });
      expect(JSON.parse(calls[1]?.outcome ?? '{}')).toMatchObject({ status: 'cancelled' });
      const said = await world.store.db
        .selectFrom('messages')
        .select('content')
        .where('space_id', '=', space)
        .execute();
      expect(said).toEqual([{ content: '"go"' }]);
      const types = (await world.events(spaceStream(space))).map(({ type }) => type);
      expect(types.filter((type) => type === 'agent.active')).toHaveLength(1);
      expect(types.filter((type) => type === 'agent.inactive')).toHaveLength(1);
    });

    test('[G16] cancel aborts a request to the model, and its reply is not stored', async () => {
      const asked = Promise.withResolvers<AbortSignal | undefined>();
      const reply = Promise.withResolvers<void>();
      const model = scriptedModel(async ({ abortSignal }) => {
        asked.resolve(abortSignal);
        await reply.promise;
        return 'Too late.';
      });
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world, {}, { isIn: true });
      await world.say(space, ada, 'go');
      const signal = await asked.promise;
      const runs = world.store.db.selectFrom('runs').select(['id', 'status']).where('thread_id', '=', bot);
      const { id } = await runs.executeTakeFirstOrThrow();
      await world.store.transaction((tx) => requestCancel(tx, id));
      await world.idle();
      expect(signal?.aborted).toBe(true);
      reply.resolve();
      await new Promise(setImmediate);
      await world.idle();
      expect(await runs.execute()).toEqual([{ id, status: 'cancelled' }]);
      for (const table of ['transcript_entries', 'messages', 'stream_events'] as const)
        expect(JSON.stringify(await world.store.db.selectFrom(table).selectAll().execute())).not.toContain('Too late.');
    });

    test('[G17] a run of an agent that is deleted meanwhile ends, shows the ends of everything it began, and its events are dead', async () => {
      const { slow, inside } = slowTool();
      const model = scriptedModel([[{ toolName: 'slow' }, { toolName: 'send_message', input: { text: 'late' } }]]);
      const world = await open({ models: { default: model }, tools: { slow } });
      const { ada, bot, space } = await lobby(world, { tools: ['slow'] }, { isIn: true });
      await world.say(space, ada, 'go');
      await inside.promise;
      await world.store.transaction((tx) => deleteAgent(tx, bot));
      await expect.poll(() => world.worker.busy).toBe(0);
      const types = (await world.events(spaceStream(space))).map(({ type }) => type);
      const count = (type: string): number => types.filter((one) => one === type).length;
      // Whether the slow call took effect is unknown.
      const ends = ['tool-call.error', 'tool-call.cancelled', 'message.cancelled', 'agent.inactive'];
      expect(ends.map(count)).toEqual([1, 0, 1, 1]);
      expect(await inbox(world, bot)).toMatchObject([
        { status: 'dead', error: expect.stringContaining('agent_deleted') },
      ]);
    });

    test('[G17] a call that waits while another run of its agent is active is settled once when the deletion ends that run', async () => {
      const { slow, inside } = slowTool();
      const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
      const model = scriptedModel(({ prompt }) => {
        if (JSON.stringify(prompt).includes('go ahead')) return { toolName: 'slow' };
        return prompt.at(-1)?.role === 'tool' ? 'I wait.' : { toolName: 'pay' };
      });
      const world = await open({ models: { default: model }, tools: { slow, pay } });
      const { ada, bot, space } = await lobby(world, { tools: ['slow', 'pay'] }, { isIn: true });
      await world.say(space, ada, 'pay');
      await world.idle();
      await world.say(space, ada, 'go ahead');
      await inside.promise;
      // Other tests left calls in the same database.
      const calls = world.store.db
        .selectFrom('calls')
        .select(['tool_name', 'status', 'outcome_status', 'wait_status'])
        .where('agent_id', '=', bot)
        .where('tool_name', '=', 'pay');
      expect(await calls.execute()).toMatchObject([{ status: 'pending' }]);
      await world.store.transaction((tx) => deleteAgent(tx, bot));
      await expect.poll(() => world.worker.busy).toBe(0);
      expect(await calls.execute()).toEqual([
        { tool_name: 'pay', status: 'settled', outcome_status: 'cancelled', wait_status: 'cancelled' },
      ]);
    });
  },
  databases,
);

/** A tool that runs until it is aborted. `inside` resolves when it has begun. */
function slowTool() {
  const inside = Promise.withResolvers<void>();
  const slow = tool({
    description: 'Takes its time.',
    inputSchema: z.object({}),
    async execute(_input, { abortSignal }) {
      inside.resolve();
      await new Promise((resolve) => abortSignal.addEventListener('abort', resolve));
    },
  });
  return { slow, inside };
}
