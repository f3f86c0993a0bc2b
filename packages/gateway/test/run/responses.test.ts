import { reply, tool } from '@lastcall/core';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { pushEvent } from '../../src/domain/inbox/push-event.ts';
import { requestCancel } from '../../src/domain/runs/request-cancel.ts';
import { getRunDetails } from '../../src/domain/runs/run-details.ts';
import { listMessages } from '../../src/domain/spaces/list-messages.ts';
import { addMember, removeMember } from '../../src/domain/spaces/membership.ts';
import type { Message } from '../../src/domain/spaces/message.ts';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { createTool } from '../../src/domain/tools/change-tool.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { inboxOf, systemOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import { waitingOf } from '../support/waiting-of.ts';
import type { World } from '../support/world.ts';

const inputSchema = z.object({}).loose();
const ends = (execute: () => unknown, more: object = {}) =>
  tool({
    description: 'Ends.',
    inputSchema,
    terminal: true,
    effects: 'none',
    execute: execute as () => string,
    ...more,
  });
/** A terminal tool whose calls have no card. */
const hidden = (execute: () => unknown, more: object = {}) => ({ tool: ends(execute, more), visible: false });

const steps = (...replies: ScriptedReply[]) =>
  scriptedModel((_request, invocation) => replies[invocation - 1] ?? 'Nothing.');

const messagesIn = async ({ store }: World, spaceId: string) =>
  (await listMessages(store.db, { spaceId })).items.filter(({ text, kind }) => kind === 'tool' || text !== 'Go');

const runsOf = async ({ store }: World, bot: string) =>
  (await store.db.selectFrom('runs').selectAll().where('thread_id', '=', bot).orderBy('number').execute()).map(
    ({ id, status }) => ({ id, status }),
  );

const lastRun = async (world: World, bot: string) =>
  await getRunDetails(world.store.db, (await runsOf(world, bot)).at(-1)?.id ?? '');

describeWorlds(
  'the response of a run',
  (open) => {
    test('[A23] the output of a terminal tool is posted as a message of the agent in its active space, once, with the end of the run', async () => {
      const model = steps({ toolName: 'offer' });
      const listener = steps();
      const offer = hidden(() => ({ euros: 45 }), { render: ({ euros }: { euros: number }) => `For you: ${euros} €.` });
      const world = await open({ models: { default: model, listener }, tools: { offer } });
      const { ada, bot, space } = await lobby(world, { tools: ['offer'] }, { isIn: true });
      const other = await world.agent('Other', { model: 'listener' });
      await world.in((tx) => addMember(tx, { spaceId: space, entityId: other }));
      await world.say(space, ada, 'Go');
      await world.idle();
      const [message, ...more] = await messagesIn(world, space);
      const run = await lastRun(world, bot);
      expect(more).toEqual([]);
      expect(message).toMatchObject({
        ...{ kind: 'text', text: 'For you: 45 €.', entityId: bot, runId: run.id, status: 'complete' },
        metadata: { toolName: 'offer', response: true },
      });
      expect(run).toMatchObject({ status: 'completed', response: 'For you: 45 €.' });
      // Other agents get it like any message.
      expect(inboxOf(listener.requests.at(-1) as never).map(({ data }) => data.text)).toContain('For you: 45 €.');
      const told = (await world.events(spaceStream(space))).filter(({ type }) => type === 'message.complete');
      expect(told.at(-1)?.payload).toMatchObject({ streamId: message?.id, message: { text: 'For you: 45 €.' } });
    });

    test('[A23] without an active space nothing is posted, and the output is the response of the run', async () => {
      const model = steps({ toolName: 'offer' });
      const world = await open({ models: { default: model }, tools: { offer: hidden(() => 'For you: 45 €.') } });
      const { bot, space } = await lobby(world, { tools: ['offer'] });
      const event = { type: 'service', source: 'test', name: 'tick', data: null } as const;
      await world.in((tx) => pushEvent(tx, { threadId: bot, eventId: 'tick', event }));
      await world.idle();
      expect(await messagesIn(world, space)).toEqual([]);
      expect(await lastRun(world, bot)).toMatchObject({ status: 'completed', response: 'For you: 45 €.' });
    });

    test('[A23] the card of a visible tool is marked as the response instead, and no other card is', async () => {
      const look = tool({ description: 'Looks.', inputSchema, effects: 'none', execute: () => 'Seen.' });
      const model = steps([{ toolName: 'look' }, { toolName: 'offer' }]);
      const world = await open({ models: { default: model }, tools: { look, offer: ends(() => ({ euros: 45 })) } });
      const { ada, space } = await lobby(world, { tools: ['look', 'offer'] }, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      const messages = await messagesIn(world, space);
      expect(messages.map(({ kind, metadata }) => ({ kind, ...metadata }))).toEqual([
        { kind: 'tool', toolName: 'look', input: {}, output: 'Seen.' },
        { kind: 'tool', toolName: 'offer', input: {}, output: { euros: 45 }, response: true },
      ]);
      const told = (await world.events(spaceStream(space))).filter(({ type }) => type === 'tool-call.complete');
      expect(told.map(({ payload }) => (payload as { message: Message }).message.metadata.response)).toEqual([
        undefined,
        true,
      ]);
    });

    test('[A23] the output of a tool of the contract is a response although it is not terminal, and that of an unlisted terminal tool is not', async () => {
      const model = steps({ toolName: 'offer' }, { toolName: 'report' });
      const report = tool({ description: 'Reports.', inputSchema, effects: 'none', execute: () => 'The report.' });
      const tools = { offer: ends(() => 'An offer.'), report: { tool: report, visible: false } };
      const world = await open({ models: { default: model }, tools });
      const config = { tools: ['offer', 'report'], terminating: { toolIds: ['report'] } };
      const { ada, space } = await lobby(world, config, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      const messages = await messagesIn(world, space);
      expect(messages.map(({ kind, text, metadata }) => [kind, text, metadata.response])).toEqual([
        ['tool', '', undefined],
        ['text', 'The report.', true],
      ]);
    });

    test.each([
      ['nothing', () => undefined],
      ['null', () => null],
      ['blanks', () => ' \n'],
      ['a reply without words for people', () => reply({ user: '', model: 'Done.' })],
    ])('[A23] a terminal tool that returns %s posts nothing', async (_what, execute) => {
      const world = await open({ models: { default: steps({ toolName: 'done' }) }, tools: { done: hidden(execute) } });
      const { ada, bot, space } = await lobby(world, { tools: ['done'] }, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      expect(await messagesIn(world, space)).toEqual([]);
      expect(await runsOf(world, bot)).toMatchObject([{ status: 'completed' }]);
    });

    test('[A23] of a reply result, people get the text for people', async () => {
      const say = hidden(() => reply({ user: 'Sent!', model: 'Sent with id 7.' }));
      const world = await open({ models: { default: steps({ toolName: 'say' }) }, tools: { say } });
      const { ada, bot, space } = await lobby(world, { tools: ['say'] }, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      expect((await messagesIn(world, space)).map(({ text }) => text)).toEqual(['Sent!']);
      expect((await lastRun(world, bot)).response).toBe('Sent!');
    });

    test('[A23] an output that is too long for a message is cut and says so, and the run completes with all of it', async () => {
      const long = `${'x'.repeat(44)}😀${'y'.repeat(200)}`;
      const model = steps({ toolName: 'offer' });
      const limits = { messageCharacters: 80 };
      const world = await open({ models: { default: model }, tools: { offer: hidden(() => long) }, limits });
      const { ada, bot, space } = await lobby(world, { tools: ['offer'] }, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      const [message] = await messagesIn(world, space);
      expect(message?.text).toBe(`${'x'.repeat(44)}\n[cut: the text has 246 characters]`);
      expect(await lastRun(world, bot)).toMatchObject({ status: 'completed', response: long });
    });

    test('[A23] a text that the model has sent in the same space in the same run is not posted again', async () => {
      const model = steps([{ toolName: 'send_message', input: { text: ' For you: 45 €.' } }, { toolName: 'offer' }]);
      const world = await open({ models: { default: model }, tools: { offer: hidden(() => 'For you: 45 €.\n') } });
      const { ada, space } = await lobby(world, { tools: ['offer'] }, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      expect((await messagesIn(world, space)).map(({ text }) => text)).toEqual([' For you: 45 €.']);
    });

    test.each([
      ['send_message', { text: 'Hello.' }, ['Hello.']],
      ['set_goals', { goals: [{ description: 'Help' }] }, []],
      ['pass_event', {}, []],
      ['complete_task', { result: 'all good' }, ['Task completed: all good']],
    ])(
      '[A23] %s, if it ends the run, leaves only the output for people in the space, and no other',
      async (toolId, input, texts) => {
        const world = await open({ models: { default: steps({ toolName: toolId, input }) } });
        const tools = ['pass_event', 'complete_task'].filter((name) => name === toolId);
        const { ada, bot, space } = await lobby(world, { tools, terminating: { toolIds: [toolId] } }, { isIn: true });
        await world.say(space, ada, 'Go');
        await world.idle();
        expect((await messagesIn(world, space)).map(({ text }) => text)).toEqual(texts);
        expect(await runsOf(world, bot)).toMatchObject([{ status: 'completed' }]);
      },
    );

    test('[A23] an agent that was removed from the space while its tool ran ends its run, and nothing is posted there', async () => {
      const there: { world?: World; space?: string; bot?: string } = {};
      const offer = hidden(async () => {
        const { world, space = '', bot = '' } = there;
        await world?.in((tx) => removeMember(tx, { spaceId: space, entityId: bot }));
        return 'For you: 45 €.';
      });
      const world = await open({ models: { default: steps({ toolName: 'offer' }) }, tools: { offer } });
      const { ada, bot, space } = await lobby(world, { tools: ['offer'] }, { isIn: true });
      Object.assign(there, { world, space, bot });
      await world.say(space, ada, 'Go');
      await world.idle();
      expect(await messagesIn(world, space)).toEqual([]);
      expect(await lastRun(world, bot)).toMatchObject({ status: 'completed', response: 'For you: 45 €.' });
    });

    test('[A23] nothing is posted after a cancel was accepted', async () => {
      const there: { world?: World; bot?: string } = {};
      const offer = hidden(async () => {
        const { world, bot = '' } = there;
        const [run] = world === undefined ? [] : await runsOf(world, bot);
        await world?.in((tx) => requestCancel(tx, run?.id ?? ''));
        return 'For you: 45 €.';
      });
      const world = await open({ models: { default: steps({ toolName: 'offer' }) }, tools: { offer } });
      const { ada, bot, space } = await lobby(world, { tools: ['offer'] }, { isIn: true });
      Object.assign(there, { world, bot });
      await world.say(space, ada, 'Go');
      await world.idle();
      expect(await runsOf(world, bot)).toMatchObject([{ status: 'cancelled' }]);
      expect(await messagesIn(world, space)).toEqual([]);
    });

    test('[A23] a terminal call that was approved in a later run does not end it, so the model answers', async () => {
      const model = steps({ toolName: 'offer' }, 'Asked.', { toolName: 'send_message', input: { text: 'Approved.' } });
      const offer = ends(() => 'For you: 45 €.', { approval: true });
      const world = await open({ models: { default: model }, tools: { offer } });
      const { ada, bot, space } = await lobby(world, { tools: ['offer'] }, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      const call = await waitingOf(world, bot);
      await answer(world.services, { ...call, answer: { approve: true }, by: { key: true } });
      await world.idle();
      const messages = await messagesIn(world, space);
      expect(messages.map(({ kind, text, metadata }) => [kind, text, metadata.response])).toEqual([
        ['tool', '', undefined],
        ['text', 'Approved.', undefined],
      ]);
    });

    test.each([
      ['a terminal tool', { tools: ['offer'] }, true],
      ['a contract', { tools: ['complete_task'], terminating: { toolIds: ['complete_task'] } }, true],
      ['neither', { tools: ['complete_task'] }, false],
    ])('[A23] the instructions say where the response goes: %s', async (_what, config, isTold) => {
      const model = steps({ toolName: 'complete_task', input: { result: 'x' } });
      const world = await open({ models: { default: model }, tools: { offer: hidden(() => 'x') } });
      const { ada, space } = await lobby(world, config);
      await world.say(space, ada, 'Go');
      await world.idle();
      const system = systemOf(model.requests[0] as never);
      expect(system.includes('is posted in your active space: do not send it again')).toBe(isTold);
    });

    const standard =
      'You are currently in an autonomous execution mode with no user interaction. You must complete your task by calling one of the terminating tools.';
    const named = 'The terminating tools are: complete_task, report_error.';

    test.each([
      [undefined, `${standard} ${named}`],
      ['Go on.', `Go on. ${named}`],
      ['Call complete_task or report_error.', 'Call complete_task or report_error.'],
    ])(
      '[A24] the instructions name the tools that end the task, and so does the nudge %s',
      async (nudgeMessage, sent) => {
        const model = steps('Hm.', { toolName: 'complete_task', input: { result: 'x' } });
        const world = await open({ models: { default: model } });
        const toolIds = ['complete_task', 'report_error'];
        const config = {
          tools: toolIds,
          terminating: { toolIds, ...(nudgeMessage === undefined ? {} : { nudgeMessage }) },
        };
        const { ada, space } = await lobby(world, config);
        await world.say(space, ada, 'Go');
        await world.idle();
        const [first = '', second = ''] = model.requests.map((request) => systemOf(request));
        expect(first).toContain(
          'The task ends only with a successful call of one of these tools: complete_task, report_error. A reply without a call does not end it.',
        );
        expect(first).not.toContain('end without calling a tool');
        expect(second.slice(first.length).trim()).toBe(sent);
      },
    );

    test('[A24] a tool that the contract names by its id is shown by its name', async () => {
      const model = steps({ toolName: 'finish' });
      const world = await open({ models: { default: model } });
      const value = { name: 'finish', executionType: 'internal', execution: { value: 'Finished.' } } as const;
      const { id } = await world.in((tx) => createTool(tx, value, { isTaken: () => false }));
      const { ada, space } = await lobby(world, { tools: [id], terminating: { toolIds: [id] } }, { isIn: true });
      await world.say(space, ada, 'Go');
      await world.idle();
      expect(systemOf(model.requests[0] as never)).toContain('a successful call of the tool finish. A reply');
      expect((await messagesIn(world, space)).map(({ text }) => text)).toEqual(['Finished.']);
    });

    test('[A24] without a contract no tool is named, and the agent may end without a call', async () => {
      const model = steps('Nothing.');
      const world = await open({ models: { default: model } });
      const { ada, space } = await lobby(world, { tools: ['complete_task'] });
      await world.say(space, ada, 'Go');
      await world.idle();
      expect(systemOf(model.requests[0] as never)).toContain('end without calling a tool');
      expect(systemOf(model.requests[0] as never)).not.toContain('The task ends only');
    });
  },
  databases,
);
