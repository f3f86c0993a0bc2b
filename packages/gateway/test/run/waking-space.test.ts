import { tool } from '@lastcall/core';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { charter, node } from '@lastcall/machines';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { expireDue } from '../../src/domain/calls/expire-due.ts';
import { pushEvent } from '../../src/domain/inbox/push-event.ts';
import { listMessages } from '../../src/domain/spaces/list-messages.ts';
import { removeMember } from '../../src/domain/spaces/membership.ts';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { defineAgent } from '../../src/index.ts';
import { spaceOfOpenRun } from '../../src/runtime/claim/waking-space.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { situationOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import { waitingOf } from '../support/waiting-of.ts';
import type { World } from '../support/world.ts';

const steps = (...replies: ScriptedReply[]) =>
  scriptedModel((_request, invocation) => replies[invocation - 1] ?? 'Done.');

const send = (text: string) => ({ toolName: 'send_message', input: { text } });

/** The space that the request names as the active one. */
async function activeIn({ store }: World, bot: string, request: unknown): Promise<string | undefined> {
  const shown = situationOf(request as never).find((line) => line.startsWith('Active space: ')) ?? '';
  const row = await store.db
    .selectFrom('memberships')
    .innerJoin('agents', 'agents.entity_id', 'memberships.entity_id')
    .select('memberships.space_id')
    .where('agents.id', '=', bot)
    .where('memberships.number', '=', Number(/: (\d+) \(/.exec(shown)?.[1] ?? 0))
    .executeTakeFirst();
  return row?.space_id;
}

const textsIn = async ({ store }: World, spaceId: string) =>
  (await listMessages(store.db, { spaceId })).items.filter(({ kind }) => kind === 'text').map(({ text }) => text);

const storedSpace = async ({ store }: World, bot: string) =>
  (await store.db.selectFrom('agents').select('active_space_id').where('id', '=', bot).executeTakeFirstOrThrow())
    .active_space_id;

const presence = async (world: World, spaceId: string) =>
  (await world.events(spaceStream(spaceId))).flatMap(({ type }) => (type.startsWith('agent.') ? [type] : []));

/** Blocks the claim of the agent's thread until all messages are stored. */
async function together(world: World, bot: string, work: () => Promise<unknown>): Promise<void> {
  const set = (status: 'active' | 'paused') =>
    world.in((tx) => tx.db.updateTable('agents').set({ status }).where('id', '=', bot).execute());
  await set('paused');
  await work();
  await set('active');
  await world.in(async (tx) => tx.wake(bot));
  await world.idle();
}

const tick = { type: 'service', source: 'test', name: 'tick', data: null } as const;

describeWorlds(
  'the space that wakes an agent',
  (open) => {
    test('[K1] is the active one when the run begins: the agent answers there without enter_space, and is announced only there', async () => {
      const model = steps(send('Here.'));
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world, {}, { isIn: true });
      const other = await world.space('Other', [ada, bot]);
      await world.say(other, ada, 'Hi');
      await world.idle();
      expect(await activeIn(world, bot, model.requests[0])).toBe(other);
      expect(await textsIn(world, other)).toEqual(['Hi', 'Here.']);
      expect(await textsIn(world, space)).toEqual([]);
      expect(await storedSpace(world, bot)).toBe(other);
      expect(await presence(world, other)).toEqual(['agent.active', 'agent.inactive']);
      expect(await presence(world, space)).toEqual([]);
    });

    test('[K1] of several spaces, is that of the newest message of a person, and all of them are in the inbox', async () => {
      const model = steps('Done.');
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world);
      const [later, among] = [await world.space('Later', [ada, bot]), await world.space('Among agents', [bot])];
      const peer = await world.agent('Peer', { model: 'peer' });
      await world.in((tx) =>
        tx.db
          .insertInto('memberships')
          .values({ space_id: among, entity_id: peer, role: 'member', joined_at: 1, left_at: null, last_seen_seq: 0 })
          .execute(),
      );
      await together(world, bot, async () => {
        await world.say(space, ada, 'First');
        await world.say(later, ada, 'Second');
        await world.say(among, peer, 'Third');
      });
      expect(model.requests).toHaveLength(1);
      expect(await activeIn(world, bot, model.requests[0])).toBe(later);
      const request = JSON.stringify(model.requests[0]?.prompt);
      for (const name of ['Lobby', 'Later', 'Among agents']) expect(request).toContain(name);
    });

    test('[K1] is that of the newest message if only agents wrote', async () => {
      const model = steps('Done.');
      const world = await open({ models: { default: model, peer: steps() } });
      const [bot, peer] = [await world.agent('Bot'), await world.agent('Peer', { model: 'peer' })];
      const [one, two] = [await world.space('One', [bot, peer]), await world.space('Two', [bot, peer])];
      await together(world, bot, async () => {
        await world.say(one, peer, 'First');
        await world.say(two, peer, 'Second');
      });
      expect(await activeIn(world, bot, model.requests[0])).toBe(two);
    });

    test('[K1] is not entered if the agent has left it meanwhile: the active space stays as it was', async () => {
      const model = steps('Private.');
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world, { replies: 'text' }, { isIn: true });
      const other = await world.space('Other', [ada, bot]);
      await together(world, bot, async () => {
        await world.say(other, ada, 'Hi');
        await world.in((tx) => removeMember(tx, { spaceId: other, entityId: bot }));
      });
      expect(await activeIn(world, bot, model.requests[0])).toBe(space);
      expect(await storedSpace(world, bot)).toBe(space);
      expect(await textsIn(world, other)).toEqual(['Hi']);
      expect(await textsIn(world, space)).toEqual([]);
      expect((await world.events(spaceStream(other))).map(({ type }) => type)).not.toContain('message.start');
    });

    test('[K1] [K2] if the agent has left it meanwhile, is the next one whose person waits: the reply goes there', async () => {
      const model = steps('Hello.');
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world, { replies: 'text' });
      const [other, first] = [await world.space('Other', [ada, bot]), await world.space('First', [ada, bot])];
      await together(world, bot, async () => {
        await world.say(first, ada, 'One');
        await world.say(space, ada, 'Two');
        await world.say(other, ada, 'Three');
        await world.in((tx) => removeMember(tx, { spaceId: other, entityId: bot }));
      });
      expect(model.requests).toHaveLength(1);
      expect(await activeIn(world, bot, model.requests[0])).toBe(space);
      expect(await textsIn(world, space)).toEqual(['Two', 'Hello.']);
      expect(await textsIn(world, first)).toEqual(['One']);
      expect(await textsIn(world, other)).toEqual(['Three']);
    });

    test('[K2] a worker that takes a run over posts only in the space in which the run began', async () => {
      const world = await open({ models: { default: steps() } });
      const { ada, bot, space } = await lobby(world);
      const other = await world.space('Other', [ada, bot]);
      const spaces = [other, space].map((spaceId) => ({ spaceId, isAwaited: true }));
      const began = async (createdAt: number) =>
        (await world.in((tx) => spaceOfOpenRun(tx, { entityId: bot, createdAt }, spaces)))?.spaceId;
      const now = () => world.in(async (tx) => tx.now());
      const atStart = await now();
      expect(await began(atStart)).toBe(other);
      await world.in((tx) => removeMember(tx, { spaceId: other, entityId: bot }));
      // It has left the space since.
      expect(await began(atStart)).toBeUndefined();
      // It had left it before.
      expect(await began((await now()) + 1)).toBe(space);
      await world.in((tx) =>
        tx.db
          .updateTable('memberships')
          .set({ left_at: null, joined_at: atStart + 5 })
          .where('space_id', '=', other)
          .where('entity_id', '=', bot)
          .execute(),
      );
      // It has joined it again since.
      expect(await began(atStart + 4)).toBeUndefined();
      expect(await began(atStart + 5)).toBe(other);
    });

    test('[K1] an event without a space leaves the active one, and an answered call wakes the agent where its card is', async () => {
      const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
      const model = steps({ toolName: 'pay' }, 'Asked.');
      const world = await open({ models: { default: model }, tools: { pay } });
      const { ada, bot, space } = await lobby(world, { tools: ['pay'] });
      const other = await world.space('Other', [ada, bot]);
      await world.say(space, ada, 'Pay');
      await world.idle();
      await world.say(other, ada, 'Hi');
      await world.idle();
      await world.in((tx) => pushEvent(tx, { threadId: bot, eventId: 'tick', event: tick }));
      await world.idle();
      await answer(world.services, { ...(await waitingOf(world, bot)), answer: { approve: true }, by: { key: true } });
      await world.idle();
      const [asked, , hi, ticked, approved] = model.requests;
      expect(await Promise.all([asked, hi, ticked, approved].map((one) => activeIn(world, bot, one)))).toEqual([
        space,
        other,
        other,
        space,
      ]);
    });

    test('[K1] is that of a message, and not that of a card whose call expired after it', async () => {
      const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
      const model = steps({ toolName: 'pay' }, 'Asked.');
      const world = await open({ models: { default: model, peer: steps() }, tools: { pay } });
      const { ada, bot, space } = await lobby(world, { tools: ['pay'] });
      const peer = await world.agent('Peer', { model: 'peer' });
      const other = await world.space('Other', [bot, peer]);
      await world.say(space, ada, 'Pay');
      await world.idle();
      const { callId } = await waitingOf(world, bot);
      await together(world, bot, async () => {
        await world.say(other, peer, 'Hello.');
        await world.in((tx) => tx.db.updateTable('calls').set({ expires_at: 1 }).where('id', '=', callId).execute());
        await expireDue(world.services, { agentId: bot });
      });
      expect(await activeIn(world, bot, model.requests.at(-1))).toBe(other);
    });

    test('[K1] is where the primary of a machine begins', async () => {
      const definitions = {
        desk: defineAgent({ machine: charter({ nodes: { desk: node({ instructions: 'Help.' }) } }) }),
      };
      const model = steps(send('From the machine.'));
      const world = await open({ models: { default: model }, definitions });
      const { ada, bot } = await lobby(world, { definition: 'desk' }, { isIn: true });
      const other = await world.space('Other', [ada, bot]);
      await world.say(other, ada, 'Hi');
      await world.idle();
      expect(await textsIn(world, other)).toEqual(['Hi', 'From the machine.']);
    });

    test('[K1] a removal at the same moment leaves no space active that the agent is not in', async () => {
      const world = await open({ models: { default: steps() } });
      for (let round = 0; round < 10; round++) {
        const { ada, bot } = await lobby(world, {}, { isIn: true });
        const other = await world.space('Other', [ada, bot]);
        await Promise.all([
          world.say(other, ada, 'Hi'),
          world.in((tx) => removeMember(tx, { spaceId: other, entityId: bot })),
        ]);
        await world.idle();
        expect(await storedSpace(world, bot)).not.toBe(other);
      }
    });
  },
  databases,
);
