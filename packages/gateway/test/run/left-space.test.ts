// What a space sees of an agent that leaves it, or whose space is archived, in the middle of its run.
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { tool } from '@lastcall/core';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { addMember, removeMember } from '../../src/domain/spaces/membership.ts';
import { updateSpace } from '../../src/domain/spaces/update-space.ts';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import type { StreamEvent } from '../../src/ports/bus/bus.ts';
import { problemsOfStreams } from '../processes/check-streams.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { type Lobby, lobby } from '../support/lobby.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';

const leave = (world: World, { space, bot }: Lobby) =>
  world.in((tx) => removeMember(tx, { spaceId: space, entityId: bot }));
const archive = (world: World, { space }: Lobby) => world.in((tx) => updateSpace(tx, space, { archived: true }));

/** `between` runs when two deltas of the first reply have been written. */
function inParts(model: LanguageModelV4, between: () => Promise<void>): LanguageModelV4 {
  let deltas = 0;
  const doStream: LanguageModelV4['doStream'] = async (options) => {
    const { stream, ...rest } = await model.doStream(options);
    const split = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
      async transform(part, controller) {
        controller.enqueue(part);
        if ((part.type === 'text-delta' || part.type === 'tool-input-delta') && ++deltas === 2) await between();
      },
    });
    return { stream: stream.pipeThrough(split), ...rest };
  };
  return { ...model, doStream };
}

const written = ({ payload }: StreamEvent): string => String((payload as { delta?: string }).delta ?? '');

describeWorlds(
  'a space that an agent leaves while it works',
  (open) => {
    /** `during` runs in the call of `slow`, which the model makes first. */
    async function working(
      replies: readonly ScriptedReply[],
      during: (world: World, lobby: Lobby) => Promise<unknown>,
      config: object = {},
    ) {
      const paid: number[] = [];
      const pay = tool({
        description: 'Pays.',
        inputSchema: z.object({ amount: z.number() }),
        execute: ({ amount }) => void paid.push(amount),
      });
      const slow = tool({
        description: 'Takes its time.',
        inputSchema: z.object({}),
        execute: async () => {
          await during(world, given);
          return 'Done.';
        },
      });
      const model = scriptedModel([{ toolName: 'slow' }, ...replies]);
      const tools = { pay: { tool: pay, visible: true }, slow: { tool: slow, visible: false } };
      const world: World = await open({ models: { default: model }, tools });
      const given = await lobby(world, { tools: ['pay', 'slow'], ...config }, { isIn: true });
      await world.say(given.space, given.ada, 'Go');
      await world.idle();
      const events = await world.events(spaceStream(given.space));
      const last = events.findLastIndex(({ type }) => type === 'member.left' || type === 'space.changed');
      return { world, paid, model, after: events.slice(last + 1) };
    }

    const replies = [
      { toolName: 'pay', input: { amount: 4711 } },
      { toolName: 'send_message', input: { text: 'SECRET' } },
      'SECRET too',
    ];

    test.each([
      ['is removed from it', leave],
      ['is in it when it is archived', archive],
    ] as const)(
      '[G1] [G57] sees nothing that an agent writes or calls after it %s, and no cancel of a call that runs',
      async (_how, during) => {
        const { paid, after, model, world } = await working(replies, during, { replies: 'text' });
        expect(paid).toEqual([4711]);
        expect(model.requests).toHaveLength(4);
        expect(after.map(({ type }) => type)).toEqual(['agent.inactive']);
        expect(await problemsOfStreams(world.store.db)).toEqual([]);
      },
    );

    test('[G1] sees again what the agent begins once it is back, and nothing of what it had begun before', async () => {
      let times = 0;
      const during = async (world: World, given: Lobby): Promise<void> => {
        times++;
        if (times === 1) await leave(world, given);
        else await world.in((tx) => addMember(tx, { spaceId: given.space, entityId: given.bot }));
      };
      const back = [
        { toolName: 'pay', input: { amount: 1 } },
        { toolName: 'slow' },
        { toolName: 'enter_space', input: { spaceId: '1' } },
        { toolName: 'pay', input: { amount: 2 } },
        'Done.',
      ];
      const { paid, after, world } = await working(back, during);
      expect(paid).toEqual([1, 2]);
      expect(after.map(({ type }) => type).filter((type) => type.startsWith('tool'))).toEqual([
        'tool-call.start',
        'tool-input-delta',
        'tool-call.complete',
      ]);
      expect(after.map(written).join('')).toBe('{"amount":2}');
      expect(await problemsOfStreams(world.store.db)).toEqual([]);
    });

    /** The agent leaves while the model writes; what it wrote before has been shown. */
    async function leftWhileWriting(reply: ScriptedReply, config: object = {}) {
      let paid = 0;
      const pay = tool({
        description: 'Pays.',
        inputSchema: z.object({ amount: z.number() }),
        execute: () => void paid++,
      });
      const shown = async (): Promise<boolean> =>
        (await world.events(spaceStream(given.space))).some(({ type }) => type.endsWith('delta'));
      const model = inParts(scriptedModel([reply, 'SECRET']), async () => {
        await expect.poll(shown).toBe(true);
        await leave(world, given);
      });
      const world: World = await open({ models: { default: model }, tools: { pay: { tool: pay, visible: true } } });
      const given = await lobby(world, { tools: ['pay'], ...config }, { isIn: true });
      await world.say(given.space, given.ada, 'Go');
      await world.idle();
      const events = await world.events(spaceStream(given.space));
      const about = events.filter(({ type }) => /^tool|^message/.test(type)).slice(1);
      expect(await problemsOfStreams(world.store.db)).toEqual([]);
      return { paid: () => paid, types: about.map(({ type }) => type), last: about.at(-1), shown: about.map(written) };
    }

    test('[G1] [G57] sees that it sees no more of a call that it saw begin, and not that the call was cancelled', async () => {
      const { paid, types, last, shown } = await leftWhileWriting({ toolName: 'pay', input: { amount: 123_456 } });
      expect(paid()).toBe(1);
      expect(types).toEqual(['tool-call.start', 'tool-input-delta', 'tool-call.cancelled']);
      expect(last?.payload).toMatchObject({ reason: expect.stringMatching(/^No longer shown here.*may still run\.$/) });
      expect(shown.join('')).not.toContain('56');
    });

    const words = 'Public words, and then a SECRET.';
    test.each([
      ['a message', { toolName: 'send_message', input: { text: words } }, {}],
      ['a reply', words, { replies: 'text' }],
    ] as const)('[G1] sees the end of %s that it saw begin, and nothing more of it', async (_what, reply, config) => {
      const { types, shown } = await leftWhileWriting(reply, config);
      expect(types).toEqual(['message.start', 'message.delta', 'message.cancelled']);
      expect(shown.join('')).toMatch(/^Pub/);
      expect(shown.join('')).not.toContain('SECRET');
    });
  },
  databases,
);
