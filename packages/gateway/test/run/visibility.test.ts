import { pending, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { pushEvent } from '../../src/domain/inbox/push-event.ts';
import { removeMember } from '../../src/domain/spaces/membership.ts';
import { runStream, spaceStream } from '../../src/domain/streams/stream-names.ts';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { resultsOf } from '../support/requests.ts';
import type { World } from '../support/world.ts';

const look = tool({
  description: 'Looks.',
  inputSchema: z.object({ at: z.string() }),
  execute: ({ at }) => `saw ${at}`,
});
const broken = tool({
  description: 'Breaks.',
  inputSchema: z.object({}),
  execute: () => {
    throw new Error('broken');
  },
});
const climb = tool({
  description: 'Tells how far it is.',
  inputSchema: z.object({}),
  async *execute() {
    yield 'half-way';
    yield 'there';
  },
});
const cards = async (world: World, space: string) =>
  (
    await world.store.db
      .selectFrom('messages')
      .selectAll()
      .where('space_id', '=', space)
      .where('kind', '=', 'tool')
      .orderBy('seq')
      .execute()
  ).map(
    ({ status, metadata, entity_id }): Record<string, unknown> => ({
      status,
      by: entity_id,
      ...fromJson<Record<string, unknown>>(metadata),
    }),
  );

const calling = (...calls: { toolName: string; input?: unknown }[]) =>
  scriptedModel((request) => (resultsOf(request).length === 0 ? calls : 'Done.'));

/** Wakes an agent by an event that has no space. */
async function wakeNowhere(world: World, bot: string): Promise<void> {
  const event = { type: 'service', source: 'test', name: 'tick', data: null } as const;
  await world.in((tx) => pushEvent(tx, { threadId: bot, eventId: 'tick', event }));
  await world.idle();
}

describeWorlds('a visible call', (open) => {
  test('[G25] a visible call is one message in the active space, with its input and output', async () => {
    const world = await open({
      models: { default: calling({ toolName: 'look', input: { at: 'sea' } }, { toolName: 'broken' }) },
      tools: { look, broken },
    });
    const { ada, bot, space } = await lobby(world, { tools: ['look', 'broken'] }, { isIn: true });
    await world.say(space, ada, 'Look');
    await world.idle();
    expect(await cards(world, space)).toEqual([
      { status: 'complete', by: bot, toolName: 'look', input: { at: 'sea' }, output: 'saw sea' },
      { status: 'error', by: bot, toolName: 'broken', input: {}, output: expect.stringContaining('broken') },
    ]);
    const woken = await world.store.db
      .selectFrom('inbox_events')
      .select('event_id')
      .where('thread_id', '=', bot)
      .execute();
    expect(woken).toHaveLength(1);
  });

  test('[G47] a visible call streams its start, its input, its progress and one end', async () => {
    const world = await open({ models: { default: calling({ toolName: 'climb' }) }, tools: { climb } });
    const { ada, space } = await lobby(world, { tools: ['climb'] }, { isIn: true });
    await world.say(space, ada, 'Climb');
    await world.idle();
    const events = (await world.events(spaceStream(space))).filter(({ type }) => type.startsWith('tool-'));
    expect(events.map(({ type }) => type)).toEqual([
      'tool-call.start',
      'tool-input-delta',
      'tool-call.progress',
      'tool-call.progress',
      'tool-call.complete',
    ]);
    const ids = new Set(events.map(({ payload }) => (payload as { callId: string }).callId));
    expect(ids.size).toBe(1);
  });

  test('[G20] [G47] a visible call that was shown while it was written and never runs ends cancelled, and so does a message', async () => {
    const world = await open({
      models: {
        default: calling(
          { toolName: 'broken' },
          { toolName: 'look', input: { at: 'sea' } },
          { toolName: 'send_message', input: { text: 'Look!' } },
        ),
      },
      tools: { look, broken: { tool: broken, visible: false } },
    });
    const config = { tools: ['look', 'broken'], batch: { onError: 'cancel-rest' } };
    const { ada, space } = await lobby(world, config, { isIn: true });
    await world.say(space, ada, 'Look');
    await world.idle();
    const types = (await world.events(spaceStream(space)))
      .map(({ type }) => type)
      // The number of deltas depends on the transactions.
      .filter((type, index, all) => type !== all[index - 1]);
    expect(types.filter((type) => type.startsWith('tool-'))).toEqual([
      'tool-call.start',
      'tool-input-delta',
      'tool-call.cancelled',
    ]);
    // The first one is the message to the agent.
    expect(types.filter((type) => type.startsWith('message.')).slice(1)).toEqual([
      'message.start',
      'message.delta',
      'message.cancelled',
    ]);
    expect(await cards(world, space)).toEqual([]);
  });

  test('[G24] what is visible is configuration: internal never is, `visible` decides for the rest', async () => {
    const internal = { executionType: 'internal', execution: { value: 42 }, visible: true } as const;
    const world = await open({
      models: {
        default: calling(
          { toolName: 'quiet', input: { at: 'x' } },
          { toolName: 'fixed' },
          { toolName: 'look', input: { at: 'y' } },
        ),
      },
      tools: { look, quiet: { tool: look, visible: false }, fixed: internal },
    });
    const { ada, space } = await lobby(world, { tools: ['look', 'quiet', 'fixed'] }, { isIn: true });
    await world.say(space, ada, 'Go');
    await world.idle();
    expect((await cards(world, space)).map(({ toolName }) => toolName)).toEqual(['look']);
  });

  test('[G27] an invisible tool’s name, input and output appear in no space stream, and on the run stream', async () => {
    const world = await open({
      models: { default: calling({ toolName: 'quiet', input: { at: 'SECRET-PLACE' } }) },
      tools: { quiet: { tool: look, visible: false } },
    });
    const { ada, bot, space } = await lobby(world, { tools: ['quiet'] }, { isIn: true });
    await world.say(space, ada, 'Go');
    await world.idle();
    const run = await world.store.db
      .selectFrom('runs')
      .select('id')
      .where('thread_id', '=', bot)
      .executeTakeFirstOrThrow();
    expect(JSON.stringify(await world.events(spaceStream(space)))).not.toMatch(/quiet|SECRET-PLACE/);
    expect(JSON.stringify(await world.events(runStream(run.id)))).toMatch(/SECRET-PLACE/);
  });

  test('[G26] a visible call that only shows something runs without an active space, posts nothing, warns, and the model reads that', async () => {
    const told: string[] = [];
    const model = scriptedModel((request) => {
      told.push(resultsOf(request).at(-1)?.text ?? '');
      return resultsOf(request).length === 0 ? { toolName: 'look', input: { at: 'sea' } } : 'Done.';
    });
    const world = await open({ models: { default: model }, tools: { look } });
    const { bot, space } = await lobby(world, { tools: ['look'] });
    await wakeNowhere(world, bot);
    expect(told[1]).toMatch(/^Not shown to anyone: you have no active space\..*saw sea$/s);
    expect(await cards(world, space)).toEqual([]);
    expect(world.logs.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  test('[G26] a visible call that asks fails without an active space and makes no waiting call; a space tool cannot be invisible', async () => {
    const told: string[] = [];
    const model = scriptedModel((request) => {
      told.push(resultsOf(request).at(-1)?.text ?? '');
      return resultsOf(request).length === 0 ? { toolName: 'confirm' } : 'Done.';
    });
    const world = await open({ models: { default: model }, tools: { confirm: { executionType: 'space' } } });
    const { bot } = await lobby(world, { tools: ['confirm'] });
    await wakeNowhere(world, bot);
    expect(told[1]).toContain('no one could answer');
    expect(await world.store.db.selectFrom('calls').select('id').where('wait_kind', 'is not', null).execute()).toEqual(
      [],
    );
    await expect(
      world.agent('Hider', { tools: [{ name: 'ask', executionType: 'space', visible: false }] }),
    ).rejects.toMatchObject({
      code: 'invalid_config',
    });
  });

  test('[G46] a message that is written slowly is shown in deltas, which add up to the message', async () => {
    const text = 'Ünïcode "quoted" 😀 and\nlines, '.repeat(20);
    const world = await open({
      models: {
        default: calling(
          { toolName: 'send_message', input: { text } },
          { toolName: 'send_message', input: { text: 'second' } },
        ),
      },
    });
    const { ada, space } = await lobby(world, {}, { isIn: true });
    await world.say(space, ada, 'Talk');
    await world.idle();
    const events = (await world.events(spaceStream(space))).filter(({ type }) => type.startsWith('message.')).slice(1);
    const streams = Map.groupBy(events, ({ payload }) => (payload as { streamId: string }).streamId);
    expect(streams.size).toBe(2);
    for (const own of streams.values()) {
      expect(own[0]?.type).toBe('message.start');
      expect(own.at(-1)?.type).toBe('message.complete');
      const pieces = own
        .filter(({ type }) => type === 'message.delta')
        .map(({ payload }) => (payload as { delta: string }).delta);
      const whole = own.at(-1)?.payload as { message: { text: string } } | undefined;
      expect(pieces.join('')).toBe(whole?.message.text);
    }
  });

  test('[G48] each agent.active is followed by exactly one agent.inactive of the same run, in the space the agent is in', async () => {
    const world = await open({
      models: { default: calling({ toolName: 'look', input: { at: 'sea' } }) },
      tools: { look, wait: tool({ description: 'Waits.', inputSchema: z.object({}), execute: () => pending() }) },
    });
    const { ada, bot, space } = await lobby(world, { tools: ['look'] }, { isIn: true });
    const other = await world.space('Other', [ada, bot]);
    await world.say(space, ada, 'one');
    await world.idle();
    await world.say(space, ada, 'two');
    await world.idle();
    const here = (await world.events(spaceStream(space))).filter(({ type }) => type.startsWith('agent.'));
    expect(here.map(({ type }) => type)).toEqual(['agent.active', 'agent.inactive', 'agent.active', 'agent.inactive']);
    const runs = here.map(({ payload }) => (payload as { runId: string }).runId);
    expect([runs[0], runs[2]]).toEqual([runs[1], runs[3]]);
    expect((await world.events(spaceStream(other))).filter(({ type }) => type.startsWith('agent.'))).toEqual([]);
  });

  test('[G26] a visible call of an agent that is removed from the space meanwhile runs, or waits, and fails no run; its shown part has an end', async () => {
    const danger = tool({ description: 'Does it.', inputSchema: z.object({}), approval: true, execute: () => 'done' });
    const confirm = { executionType: 'space' } as const;
    const gate = Promise.withResolvers<void>();
    const model = scriptedModel(async (_request, asked) => {
      if (asked > 1) return 'Done.';
      await gate.promise;
      return [{ toolName: 'danger' }, { toolName: 'look', input: { at: 'sea' } }, { toolName: 'confirm' }];
    });
    const world = await open({ models: { default: model }, tools: { look, danger, confirm } });
    const { ada, bot, space } = await lobby(world, { tools: ['look', 'danger', 'confirm'] }, { isIn: true });
    await world.say(space, ada, 'Look');
    await expect.poll(() => model.requests.length).toBe(1);
    await world.store.transaction((tx) => removeMember(tx, { spaceId: space, entityId: bot }));
    gate.resolve();
    await world.idle();
    const results = resultsOf(model.requests[1] as never).map(({ text }) => text);
    expect(results).toEqual([
      expect.stringContaining('danger'),
      expect.stringMatching(/^Not shown to anyone.*saw sea$/s),
      expect.stringContaining('You have no active space'),
    ]);
    expect(await cards(world, space)).toEqual([]);
    const types = (await world.events(spaceStream(space))).map(({ type }) => type);
    const starts = types.filter((type) => type === 'tool-call.start');
    expect(types.filter((type) => type === 'tool-call.cancelled')).toHaveLength(starts.length);
  });
});
