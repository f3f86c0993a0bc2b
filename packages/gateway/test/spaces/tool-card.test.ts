import { expect, test } from 'vitest';
import { listInbox } from '../../src/domain/inbox/list-inbox.ts';
import { listMessages } from '../../src/domain/spaces/list-messages.ts';
import { type CardUpdate, type NewCard, openCard, updateCard } from '../../src/domain/spaces/tool-card.ts';
import type { MessageStatus } from '../../src/ports/store/schema/tables.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { overlap } from './overlap.ts';

describeIdleWorld('cards', ({ world }) => {
  let calls = 0;
  const open = async (given: Partial<NewCard> = {}) => {
    const bot = await world.agent();
    const space = await world.space('Space', [bot]);
    const card: NewCard = {
      spaceId: space,
      entityId: bot,
      runId: 'run-1',
      callId: `call-${++calls}`,
      toolName: 'weather',
      input: { city: 'Tokyo' },
      status: 'running',
      ...given,
    };
    const message = await world.in((tx) => openCard(tx, card));
    return { bot, space, card, message };
  };
  const update = (callId: string, given: CardUpdate) => world.in((tx) => updateCard(tx, callId, given));
  const only = async (spaceId: string) => (await listMessages(world.store.db, { spaceId })).items;

  test('[G25] a call is one message of its space, with its tool and input', async () => {
    const { space, card, message, bot } = await open();
    expect(await only(space)).toEqual([message]);
    expect(message).toMatchObject({
      kind: 'tool',
      seq: 1,
      status: 'running',
      text: '',
      entityId: bot,
      callId: card.callId,
      runId: 'run-1',
      metadata: { toolName: 'weather', input: { city: 'Tokyo' } },
    });
  });

  test.each([
    ['complete', 'tool-call.complete'],
    ['error', 'tool-call.error'],
    ['requires_action', 'tool-call.requires-action'],
    ['expired', 'tool-call.expired'],
    ['cancelled', 'tool-call.cancelled'],
  ] as const)('[G25] [G47] a running card becomes %s, and the space gets an event', async (status, type) => {
    const { space, card, message } = await open();
    const changed = await update(card.callId, { status, output: { celsius: 20 } });
    expect(changed).toMatchObject({ id: message.id, seq: 1, status });
    expect(changed?.metadata).toEqual({ toolName: 'weather', input: { city: 'Tokyo' }, output: { celsius: 20 } });
    expect(await only(space)).toEqual([changed]);
    expect(world.told.at(-1)).toMatchObject({
      stream: `space:${space}`,
      type,
      payload: { callId: card.callId, message: changed },
    });
  });

  test.each(['complete', 'error', 'expired', 'cancelled'] as const)(
    '[G25] a card that is %s never changes again',
    async (end) => {
      const { space, card } = await open({ status: 'requires_action' });
      await update(card.callId, { status: end, output: 1 });
      const [ended] = await only(space);
      const heard = world.heard(space).length;
      const others: MessageStatus[] = ['running', 'complete', 'error', 'requires_action', 'expired', 'cancelled'];
      for (const status of others) expect(await update(card.callId, { status, output: 2, input: 2 })).toBeUndefined();
      expect(await only(space)).toEqual([ended]);
      expect(world.heard(space)).toHaveLength(heard);
    },
  );

  test('[G25] of many ends at the same moment only one counts', async () => {
    const { space, card } = await open();
    const ends = await Promise.all(
      Array.from({ length: 10 }, (_, output) => update(card.callId, { status: 'complete', output })),
    );
    const [winner, ...rest] = ends.filter((end) => end !== undefined);
    expect(rest).toEqual([]);
    expect(await only(space)).toEqual([winner]);
    expect(world.heard(space).filter((type) => type === 'tool-call.complete')).toHaveLength(1);
  });

  test('[G25] a card that ends while another end is written keeps the first', async () => {
    const { space, card } = await open();
    const complete = (hold: () => Promise<void>) =>
      world.in(async (tx) => {
        const ended = await updateCard(tx, card.callId, { status: 'complete', output: 1 });
        await hold();
        return ended;
      });
    const [first, second] = await overlap(world.store, complete, () => update(card.callId, { status: 'cancelled' }));
    expect(second).toEqual({ status: 'fulfilled', value: undefined });
    expect(await only(space)).toEqual([first]);
  });

  test('an approved call runs with the input that the approver edited', async () => {
    const { space, card } = await open({ status: 'requires_action' });
    await update(card.callId, { status: 'running', input: { city: 'Kyoto' } });
    await update(card.callId, { status: 'complete', output: 'sunny' });
    expect(await only(space)).toMatchObject([
      { status: 'complete', metadata: { toolName: 'weather', input: { city: 'Kyoto' }, output: 'sunny' } },
    ]);
    expect(world.heard(space)).toEqual([
      'member.joined',
      'tool-call.requires-action',
      'tool-call.start',
      'tool-call.complete',
    ]);
  });

  test('[G47] the start and the input are emitted if they were not before', async () => {
    const { space, card, message, bot } = await open({ rawInput: '{"city":"Oslo"}', status: 'requires_action' });
    const told = world.told.filter(({ stream }) => stream === `space:${space}`).slice(1);
    expect(told).toMatchObject([
      {
        type: 'tool-call.start',
        payload: {
          streamId: card.callId,
          callId: card.callId,
          toolName: 'weather',
          entityId: bot,
          messageId: message.id,
        },
      },
      { type: 'tool-input-delta', payload: { callId: card.callId, delta: '{"city":"Oslo"}' } },
      { type: 'tool-call.requires-action', payload: { callId: card.callId, message } },
    ]);
  });

  test('a call without a card has nothing to change', async () => {
    expect(await update('no such call', { status: 'complete' })).toBeUndefined();
  });

  test('a card that is opened again is the same card', async () => {
    const { space, card, message } = await open();
    const reopen = (status: NewCard['status']) => world.in((tx) => openCard(tx, { ...card, status }));
    expect(await reopen('running')).toEqual(message);
    expect(await reopen('requires_action')).toMatchObject({ id: message.id, status: 'requires_action' });
    await update(card.callId, { status: 'cancelled' });
    expect(await reopen('running')).toMatchObject({ id: message.id, status: 'cancelled' });
    expect(await only(space)).toHaveLength(1);
  });

  test('[G4] a card wakes no agent and is not a hop', async () => {
    const [one, two] = [await world.agent(), await world.agent()];
    const space = await world.space('Space', [one, two]);
    world.wakes.length = 0;
    const near = world.with({ hopLimit: 1 });
    const card = {
      spaceId: space,
      entityId: one,
      runId: 'r',
      toolName: 't',
      input: {},
      status: 'running',
    } as const;
    for (const callId of ['hop-1', 'hop-2', 'hop-3']) {
      await near.in((tx) => openCard(tx, { ...card, callId: `${space}${callId}` }));
      await update(`${space}${callId}`, { status: 'complete' });
    }
    expect(world.wakes).toEqual([]);
    expect((await listInbox(world.store.db, { agentId: two })).items).toEqual([]);
    await near.say(space, one, 'heard');
    expect((await listInbox(world.store.db, { agentId: two })).items).toMatchObject([{ status: 'pending' }]);
  });

  test('[G2] cards and messages are numbered together', async () => {
    const { space, bot, card } = await open();
    expect((await world.post(space, bot, 'Look')).seq).toBe(2);
    const next = { ...card, callId: `${card.callId}-next` };
    expect((await world.in((tx) => openCard(tx, next))).seq).toBe(3);
  });

  test('[G1] an agent shows nothing in a space that it is not in', async () => {
    const { card } = await open();
    const elsewhere = await world.space();
    const there = { ...card, spaceId: elsewhere, callId: `${card.callId}-there` };
    await expect(world.in((tx) => openCard(tx, there))).rejects.toMatchObject({ code: 'not_found' });
  });
});
