import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { tool } from '@lastcall/core';
import { type ScriptedModel, scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { resultsOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';

/** Makes one call, and ends with any outcome of it. */
const calling = (toolName: string, toolCallId?: string) =>
  scriptedModel((request) =>
    resultsOf(request).length === 0 ? [{ toolName, ...(toolCallId === undefined ? {} : { toolCallId }) }] : 'Done.',
  );

const reporting = (...values: readonly unknown[]) =>
  tool({
    description: 'Reports.',
    inputSchema: z.object({}),
    execute(_input, ctx) {
      for (const value of values) ctx.progress(value);
      return 'reported';
    },
  });

const endsOf = async (world: World, agentId: string) =>
  await world.store.db
    .selectFrom('inbox_events')
    .select(['status', 'attempts'])
    .where('thread_id', '=', agentId)
    .orderBy('id')
    .execute();

describeWorlds(
  'a run of a hostile',
  (open) => {
    test('[G20] model that breaks off while it writes to a space leaves nothing unfinished there', async () => {
      const world = await open({
        models: {
          default: breakingOff(
            scriptedModel(() => 'Done.'),
            () => shown.promise,
          ),
        },
      });
      const shown = Promise.withResolvers<void>();
      const { ada, bot, space } = await lobby(world, {}, { isIn: true });
      await world.say(space, ada, 'Hi');
      await expect
        .poll(async () => (await world.events(spaceStream(space))).map(({ type }) => type))
        .toContain('message.start');
      shown.resolve();
      await world.idle();
      const events = (await world.events(spaceStream(space))).slice(3);
      expect(events.map(({ type }) => type)).toEqual([
        'agent.active',
        'message.start',
        'message.delta',
        'message.cancelled',
        'agent.failed',
        'agent.inactive',
        'agent.active',
        'agent.inactive',
      ]);
      const [, start, , cancelled] = events.map(({ payload }) => (payload as { streamId?: string }).streamId);
      expect(cancelled).toBe(start);
      expect(await endsOf(world, bot)).toEqual([{ status: 'done', attempts: 2 }]);
    });

    test('[G14] tool whose output no model can read does not end the agent: the next try reads a reference', async () => {
      const model = scriptedModel((request) => {
        if (JSON.stringify(request.prompt).length > 200_000) return new Error('The prompt is too long.');
        return resultsOf(request).length === 0 ? [{ toolName: 'flood' }] : 'Done.';
      });
      const flood = tool({ description: 'Floods.', inputSchema: z.object({}), execute: () => 'x'.repeat(400_000) });
      const world = await open({ models: { default: model }, tools: { flood: { tool: flood, visible: false } } });
      const { ada, bot, space } = await lobby(world, { tools: ['flood'] });
      await world.say(space, ada, 'Go');
      await world.idle();
      await world.say(space, ada, 'And again');
      await world.idle();
      expect(await endsOf(world, bot)).toEqual([
        { status: 'done', attempts: 2 },
        { status: 'done', attempts: 1 },
      ]);
    });

    test('[G54] model whose names of tools and calls no column can hold reads that there is no such tool', async () => {
      const model = calling('no\0thing\ud800', 'call\0one');
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world);
      await world.say(space, ada, 'Go');
      await world.idle();
      expect(await endsOf(world, bot)).toEqual([{ status: 'done', attempts: 1 }]);
    });

    test('[G47] tool that reports more at once than one statement can hold shows all of it', async () => {
      const values = Array.from({ length: 7_000 }, (_, at) => at);
      const world = await open({ models: { default: calling('report') }, tools: { report: reporting(...values) } });
      const { ada, bot, space } = await lobby(world, { tools: ['report'] }, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      expect(await endsOf(world, bot)).toEqual([{ status: 'done', attempts: 1 }]);
      const progress = (await world.events(spaceStream(space))).filter(({ type }) => type === 'tool-call.progress');
      expect(progress.map(({ payload }) => (payload as { value: number }).value)).toEqual(values);
    });

    test('[G25] tool that reports progress that is not JSON runs, and its card ends', async () => {
      const ring: Record<string, unknown> = {};
      ring.ring = ring;
      const tools = { report: reporting(10n, ring, undefined, 'half-way') };
      const world = await open({ models: { default: calling('report') }, tools });
      const { ada, bot, space } = await lobby(world, { tools: ['report'] }, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      expect(await endsOf(world, bot)).toEqual([{ status: 'done', attempts: 1 }]);
      expect(await cardsIn(world, space)).toEqual(['complete']);
      const progress = (await world.events(spaceStream(space))).filter(({ type }) => type === 'tool-call.progress');
      expect(progress.map(({ payload }) => (payload as { value: unknown }).value)).toEqual([
        '10',
        { ring: '[seen before]' },
        null,
        'half-way',
      ]);
    });

    test('[G25] tool that returns a value that is not JSON has run, and so have those after it', async () => {
      const ring: Record<string, unknown> = {};
      ring.ring = ring;
      const given = [
        10n,
        ring,
        undefined,
        () => 1,
        'a\0b\ud800',
        {
          toJSON() {
            throw new Error('no');
          },
        },
      ];
      const giving = given.map((value, at) => {
        const give = tool({ description: 'Gives.', inputSchema: z.object({}), execute: () => value });
        return [`give_${at}`, give] as const;
      });
      const names = giving.map(([name]) => name);
      const model = scriptedModel((_request, asked) =>
        asked === 1 ? names.map((toolName) => ({ toolName })) : 'Done.',
      );
      const world = await open({ models: { default: model }, tools: Object.fromEntries(giving) });
      const { ada, bot, space } = await lobby(world, { tools: names }, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      expect(await endsOf(world, bot)).toEqual([{ status: 'done', attempts: 1 }]);
      expect(await cardsIn(world, space)).toEqual(given.map(() => 'complete'));
    });

    test('[G25] [G41] tool that kills one worker after the other leaves neither its card nor its call open', async () => {
      const inside = Promise.withResolvers<void>();
      const stuck = tool({
        description: 'Never ends.',
        inputSchema: z.object({}),
        execute: async (_input, ctx) => {
          inside.resolve();
          await new Promise((resolve) => ctx.abortSignal.addEventListener('abort', resolve));
        },
      });
      const world = await open({ models: { default: calling('stuck') }, tools: { stuck }, limits: { leaseMs: 300 } });
      const { ada, bot, space } = await lobby(world, { tools: ['stuck'] }, { isIn: true });
      await world.say(space, ada, 'Go');
      await inside.promise;
      expect(await cardsIn(world, space)).toEqual(['running']);
      // As if twenty workers had taken it over since, without any write.
      await world.store.transaction(({ db }) =>
        db.updateTable('runs').set({ attempts: 20, taken_seq: 1_000 }).where('thread_id', '=', bot).execute(),
      );
      await world.store.transaction(({ db }) =>
        db
          .updateTable('threads')
          .set((eb) => ({ lease_owner: 'dead', lease_until: 0, epoch: eb('epoch', '+', 1) }))
          .where('id', '=', bot)
          .execute(),
      );
      await expect.poll(() => cardsIn(world, space)).toEqual(['error']);
      expect(await endsOf(world, bot)).toEqual([{ status: 'dead', attempts: 1 }]);
      const calls = await world.store.db.selectFrom('calls').select('status').where('thread_id', '=', bot).execute();
      expect(calls).toEqual([{ status: 'settled' }]);
    });
  },
  databases,
);

async function cardsIn(world: World, space: string): Promise<string[]> {
  const cards = await world.store.db
    .selectFrom('messages')
    .select('status')
    .where('space_id', '=', space)
    .where('kind', '=', 'tool')
    .execute();
  return cards.map(({ status }) => status);
}

/** The first reply breaks off in the middle of a message, when the test says so; later ones are those of `model`. */
function breakingOff(model: ScriptedModel, when: () => Promise<void>): ScriptedModel {
  let asked = 0;
  const begun: readonly LanguageModelV4StreamPart[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'tool-input-start', id: 'one', toolName: 'send_message' },
    { type: 'tool-input-delta', id: 'one', delta: '{"text":"Hello wor' },
  ];
  return {
    ...model,
    async doStream(request) {
      if (++asked > 1) return await model.doStream(request);
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        async start(controller) {
          for (const part of begun) controller.enqueue(part);
          await when();
          controller.error(new Error('The connection is gone.'));
        },
      });
      return { stream };
    },
  };
}
