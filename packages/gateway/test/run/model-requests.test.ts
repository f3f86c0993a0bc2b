import { tool } from '@lastcall/core';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { charter, node, spawn } from '@lastcall/machines';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { getRunDetails } from '../../src/domain/runs/run-details.ts';
import { listMessages } from '../../src/domain/spaces/list-messages.ts';
import { defineAgent } from '../../src/index.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { resultsOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import { waitingOf } from '../support/waiting-of.ts';
import type { World } from '../support/world.ts';

/** It fails if it is asked more often than the test expects. */
const steps = (...replies: ScriptedReply[]) => scriptedModel(replies);
const send = (text: string, more: object = {}) => ({ toolName: 'send_message', input: { text, ...more } });
const final = (text: string) => send(text, { final: true });

const simple = (execute: () => unknown, more: object = {}) =>
  tool({ description: 'Does it.', inputSchema: z.object({}), execute, ...more });
const tools = {
  pay: simple(() => 'Paid.'),
  approve: simple(() => 'Paid.', { approval: true }),
  broken: simple(() => {
    throw new Error('No.');
  }),
};
const config = { replies: undefined, tools: Object.keys(tools) };

const saidIn = async ({ store }: World, spaceId: string, entityId: string) =>
  (await listMessages(store.db, { spaceId })).items
    .filter((message) => message.entityId === entityId && message.kind === 'text')
    .map(({ text }) => text);

const runsOf = async ({ store }: World, bot: string) =>
  await store.db.selectFrom('runs').select(['id', 'status']).where('thread_id', '=', bot).orderBy('number').execute();

describeWorlds(
  'model requests',
  (open) => {
    test.each([
      ['text', ['Because.'], ['Because.']],
      ['a final message', [final('Because.')], ['Because.']],
    ] as [string, ScriptedReply[], string[]][])(
      '[K4] a question is answered in one, by %s',
      async (_how, replies, said) => {
        const model = steps(...replies);
        const world = await open({ models: { default: model }, tools });
        const { ada, bot, space } = await lobby(world, config);
        await world.say(space, ada, 'Why?');
        await world.idle();
        expect(await saidIn(world, space, bot)).toEqual(said);
        expect(model.requests).toHaveLength(1);
        expect(await runsOf(world, bot)).toMatchObject([{ status: 'completed' }]);
      },
    );

    test('[K4] an action with its answer takes two', async () => {
      const model = steps({ toolName: 'pay' }, 'I paid.');
      const world = await open({ models: { default: model }, tools });
      const { ada, bot, space } = await lobby(world, config);
      await world.say(space, ada, 'Pay.');
      await world.idle();
      expect(await saidIn(world, space, bot)).toEqual(['I paid.']);
      expect(model.requests).toHaveLength(2);
    });

    test('[K4] an action with an approval takes three: two until the person is asked and informed, one after the approval', async () => {
      const model = steps({ toolName: 'approve' }, 'I asked for your approval.', 'I paid.');
      const world = await open({ models: { default: model }, tools });
      const { ada, bot, space } = await lobby(world, config);
      await world.say(space, ada, 'Pay.');
      await world.idle();
      expect(model.requests).toHaveLength(2);
      await answer(world.services, {
        ...(await waitingOf(world, bot)),
        answer: { approve: true },
        by: { entityId: ada },
      });
      await world.idle();
      expect(await saidIn(world, space, bot)).toEqual(['I asked for your approval.', 'I paid.']);
      expect(model.requests).toHaveLength(3);
    });

    test('[K3] a final message ends the run: the model is not asked again, and the message is the response', async () => {
      const model = steps([{ toolName: 'pay' }, final('I paid.')]);
      const world = await open({ models: { default: model }, tools });
      const { ada, bot, space } = await lobby(world, config);
      await world.say(space, ada, 'Pay.');
      await world.idle();
      expect(await saidIn(world, space, bot)).toEqual(['I paid.']);
      expect(model.requests).toHaveLength(1);
      const [run] = await runsOf(world, bot);
      expect(await getRunDetails(world.store.db, run?.id ?? '')).toMatchObject({
        ...{ status: 'completed', response: 'I paid.' },
        stop: { reason: 'end_turn', by: 'terminal', tool: 'send_message' },
      });
    });

    test.each([
      ['fails before it', [{ toolName: 'broken' }, final('I paid.')]],
      ['fails after it', [final('I paid.'), { toolName: 'broken' }]],
      ['waits for an approval', [{ toolName: 'approve' }, final('I paid.')]],
      ['is a message that cannot be sent', [final('I paid.'), send('Again', { replyTo: 'nothing' })]],
    ])(
      '[K3] a final message does not end the run if another call of its reply %s: the model reads that',
      async (_what, calls) => {
        const model = steps(calls, '');
        const world = await open({ models: { default: model }, tools });
        const { ada, bot, space } = await lobby(world, config);
        await world.say(space, ada, 'Pay.');
        await world.idle();
        expect(model.requests).toHaveLength(2);
        expect(await saidIn(world, space, bot)).toEqual(['I paid.']);
      },
    );

    test('[K3] final: false is an ordinary message', async () => {
      const model = steps(send('Wait.', { final: false }), send('Here.'), '');
      const world = await open({ models: { default: model }, tools });
      const { ada, bot, space } = await lobby(world, config);
      await world.say(space, ada, 'Hi.');
      await world.idle();
      expect(await saidIn(world, space, bot)).toEqual(['Wait.', 'Here.']);
    });

    test('[K3] under a terminating contract a final message is sent and does not end the task, and the model reads that', async () => {
      const model = steps(final('Nearly.'), { toolName: 'complete_task', input: { result: 'All of it.' } });
      const world = await open({ models: { default: model } });
      const contract = { tools: ['complete_task'], terminating: { toolIds: ['complete_task'] } };
      const { ada, bot, space } = await lobby(world, contract);
      await world.say(space, ada, 'Go.');
      await world.idle();
      expect(resultsOf(model.requests[1] as never).at(-1)?.text).toContain(
        'The task ends only with a successful call of the tool complete_task.',
      );
      expect(await saidIn(world, space, bot)).toEqual(['Nearly.', 'Task completed: All of it.']);
    });

    test('[K3] a worker of a machine cannot end the run with a message, and the primary can', async () => {
      const check = node({ worker: true, instructions: 'Check.' });
      const triage = node({
        instructions: 'Help.',
        transitions: {
          check: {
            description: 'Lets a worker check.',
            inputSchema: z.object({}),
            targets: ['check'],
            handler: () => spawn(['check']),
          },
        },
      });
      const definitions = { desk: defineAgent({ machine: charter({ nodes: { triage, check } }) }) };
      const model = steps({ toolName: 'transition_check' }, final('Checking.'), 'It is fine.', final('All is fine.'));
      const world = await open({ models: { default: model }, definitions });
      const { ada, bot, space } = await lobby(world, { definition: 'desk' });
      await world.say(space, ada, 'Check.');
      await world.idle();
      expect(await saidIn(world, space, bot)).toEqual(['Checking.', 'All is fine.']);
      expect(model.requests).toHaveLength(4);
      expect(JSON.stringify(model.requests[3]?.prompt)).toContain('It is fine.');
      expect(await runsOf(world, bot)).toMatchObject([{ status: 'completed' }]);
    });
  },
  databases,
);
