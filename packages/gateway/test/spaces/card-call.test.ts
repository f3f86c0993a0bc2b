import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { listMessages } from '../../src/domain/spaces/list-messages.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { waitingOf } from '../support/waiting-of.ts';

const inputSchema = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] } as const;

describeWorlds('the call of a card', (open) => {
  const ask = (toolName: string) => scriptedModel([{ toolName, input: { amount: 9 } }, 'Waiting.', 'Done.']);

  test('a waiting card has its display, the schema of an answer, the answerers and the expiry', async () => {
    const confirm = {
      executionType: 'space',
      inputSchema,
      resultSchema: { type: 'boolean' },
      display: { customUI: 'confirmAction' },
      answerers: { roles: ['member'] },
      expiresInMs: 60_000,
    } as const;
    const world = await open({ models: { default: ask('confirm') }, tools: { confirm } });
    const { ada, bot, space } = await lobby(world, { tools: ['confirm'] }, { isIn: true });
    await world.say(space, ada, 'Pay.');
    await world.idle();
    const card = async () =>
      (await listMessages(world.store.db, { spaceId: space })).items.find(({ kind }) => kind === 'tool');
    const waiting = {
      kind: 'result',
      display: { customUI: 'confirmAction' },
      resultSchema: { type: 'boolean' },
      answerers: { roles: ['member'] },
      expiresAt: expect.any(Number),
    };
    expect(await card()).toMatchObject({ status: 'requires_action', call: waiting });
    await answer(world.services, { ...(await waitingOf(world, bot)), answer: { result: true }, by: { entityId: ada } });
    const answered = { ...waiting, decision: 'result', by: { id: ada, name: 'Ada' }, at: expect.any(Number) };
    expect(await card()).toMatchObject({ status: 'complete', call: answered });
    const events = (await world.events(`space:${space}`)).filter(({ payload }) => 'message' in (payload as object));
    expect(events.map(({ type, payload }) => [type, (payload as { message: { call?: object } }).message.call])).toEqual(
      [
        ['message.complete', undefined],
        ['tool-call.requires-action', waiting],
        ['tool-call.complete', answered],
      ],
    );
  });

  test('a card whose input was edited keeps the input that was asked for, and names who decided', async () => {
    const pay = tool({
      description: 'Pays.',
      inputSchema: z.object({ amount: z.int() }),
      approval: true,
      execute: () => 'paid',
    });
    const world = await open({ models: { default: ask('pay') }, tools: { pay } });
    const { ada, bot, space } = await lobby(world, { tools: ['pay'] }, { isIn: true });
    await world.say(space, ada, 'Pay.');
    await world.idle();
    const by = { entityId: ada };
    const call = await waitingOf(world, bot);
    await answer(world.services, { ...call, answer: { approve: true, input: { amount: 5 } }, by });
    const loser = answer(world.services, { ...call, answer: { deny: 'Too much.' }, by: { key: true } });
    await expect(loser).rejects.toMatchObject({
      code: 'already_answered',
      details: { resolvedBy: ada, resolvedByName: 'Ada', answer: { approve: true, input: { amount: 5 } } },
    });
    await world.idle();
    const { items } = await listMessages(world.store.db, { spaceId: space });
    expect(items.find(({ kind }) => kind === 'tool')).toMatchObject({
      status: 'complete',
      metadata: { input: { amount: 5 }, output: 'paid' },
      call: { kind: 'approval', askedInput: { amount: 9 }, decision: 'approve', by: { id: ada, name: 'Ada' } },
    });
  });
});
