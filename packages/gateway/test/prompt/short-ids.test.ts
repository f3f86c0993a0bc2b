import { tool } from '@lastcall/core';
import { type ScriptedCall, scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { callIds } from '../../src/domain/calls/call-number.ts';
import { nameCalls } from '../../src/domain/calls/name-calls.ts';
import { addMember, removeMember } from '../../src/domain/spaces/membership.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { inboxLines, isFirstStep, resultsOf, situationOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';

const large = tool({
  description: 'Gives much.',
  inputSchema: z.object({}),
  effects: 'none',
  execute: () => 'abcdefghij'.repeat(3_000),
});

describeWorlds(
  'short ids',
  (open) => {
    /** An agent that makes these calls in the first step of each run, one list for each run. */
    async function agentThatCalls(...runs: ScriptedCall[][]) {
      const told: string[] = [];
      const model = scriptedModel((request) => {
        if (!isFirstStep(request))
          told.push(
            ...resultsOf(request)
              .slice(-(done.at(-1)?.length ?? 0))
              .map(({ text }) => text),
          );
        const next = isFirstStep(request) ? runs.shift() : undefined;
        if (next === undefined) return 'Done.';
        done.push(next);
        return next;
      });
      const done: ScriptedCall[][] = [];
      const world = await open({ models: { default: model }, tools: { large: { tool: large, visible: false } } });
      const [ada, bot] = [await world.person('Ada'), await world.agent('Bot', { tools: ['large'] })];
      return { world, ada, bot, model, told };
    }

    const activeSpace = async (world: World, bot: string) =>
      (await world.store.db.selectFrom('agents').select('active_space_id').where('id', '=', bot).executeTakeFirst())
        ?.active_space_id;

    test('[T17] a reference that is missing is told to the model as what it is, and null counts as left out', async () => {
      const { world, ada, bot, told } = await agentThatCalls([
        { toolName: 'enter_space', input: {} },
        { toolName: 'send_message', input: { text: 'Hello.', replyTo: null, final: null } },
        { toolName: 'read_output', input: {} },
      ]);
      const one = await world.space('Lobby', [ada, bot]);
      await world.say(one, ada, 'Go');
      await world.idle();
      expect(told.slice(0, 3).map((text) => text.split('\n').at(-1))).toEqual([
        '- spaceId: Invalid input: expected string, received undefined',
        'Sent.',
        '- ref: Invalid input: expected string, received undefined',
      ]);
    });

    test('[K7] a space is entered by its number, and one that does not exist lists those that do', async () => {
      const enter = (spaceId: unknown): ScriptedCall => ({ toolName: 'enter_space', input: { spaceId } });
      const { world, ada, bot, told } = await agentThatCalls(
        [enter('2'), enter('s1'), enter(2), enter('space 1'), enter('9'), enter('s9'), enter('no such id')],
        [{ toolName: 'read_messages', input: { spaceId: '2' } }],
      );
      const one = await world.space('Lobby', [ada, bot]);
      const two = await world.space('Invoices', [ada, bot]);
      await world.say(one, ada, 'Go');
      await world.idle();
      expect(told.slice(0, 4).map((text) => text.split('\n')[0])).toEqual([
        'Space 2 (Invoices)',
        'Space 1 (Lobby)',
        'Space 2 (Invoices)',
        'Space 1 (Lobby)',
      ]);
      for (const [index, name] of ['9', 's9', 'no such id'].entries())
        expect(told[4 + index]).toBe(`There is no space "${name}". Your spaces: 1 (Lobby), 2 (Invoices).`);
      expect(await activeSpace(world, bot)).toBe(one);
      await world.say(two, ada, 'And here?');
      await world.idle();
      expect(told.at(-1)).toBe('m1 Ada: And here?');
    });

    test('[K7] the number of a space never changes and is never used again', async () => {
      const { world, ada, bot, model } = await agentThatCalls();
      const [one, two] = [await world.space('One', [ada, bot]), await world.space('Two', [ada, bot])];
      await world.in((tx) => removeMember(tx, { spaceId: one, entityId: bot }));
      await world.in((tx) => removeMember(tx, { spaceId: two, entityId: bot }));
      const three = await world.space('Three', [ada, bot]);
      await world.in((tx) => addMember(tx, { spaceId: one, entityId: bot }));
      await world.say(three, ada, 'Hi');
      await world.idle();
      expect(situationOf(model.requests[0] as never).slice(1)).toEqual([
        'Active space: 3 (Three)',
        'Other spaces:',
        '1 (One)',
      ]);
    });

    test('[K7] spaces that an agent joins at the same time have different numbers', async () => {
      const { world, bot } = await agentThatCalls();
      const spaces = await Promise.all(['A', 'B', 'C', 'D'].map((name) => world.space(name)));
      await Promise.all(spaces.map((spaceId) => world.in((tx) => addMember(tx, { spaceId, entityId: bot }))));
      const rows = await world.store.db
        .selectFrom('memberships')
        .select('number')
        .where('entity_id', '=', bot)
        .orderBy('number')
        .execute();
      expect(rows.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
    });

    test('[K7] a message is replied to by its number, and one that does not exist lists those that do', async () => {
      const send = (replyTo: unknown): ScriptedCall => ({ toolName: 'send_message', input: { text: 'Yes', replyTo } });
      const { world, ada, bot, model, told } = await agentThatCalls(
        [{ toolName: 'enter_space', input: { spaceId: '1' } }],
        [send('m1'), send(2), send('m99')],
      );
      const space = await world.space('Lobby', [ada, bot]);
      const first = await world.say(space, ada, 'One?');
      await world.idle();
      const second = await world.say(space, ada, 'Two?');
      await world.idle();
      const items = await world.store.db
        .selectFrom('messages')
        .selectAll()
        .where('space_id', '=', space)
        .orderBy('seq')
        .execute();
      expect(items.map(({ reply_to }) => reply_to)).toEqual([null, null, first, second]);
      expect(told.slice(1)).toEqual(['Sent.', 'Sent.', expect.stringContaining('its messages are m1 to m')]);
      // Another agent reads which message was meant.
      const other = await world.agent('Other');
      await world.in((tx) => addMember(tx, { spaceId: space, entityId: other }));
      await world.say(space, ada, 'Three?', { replyTo: second });
      await world.idle();
      expect(inboxLines(model.requests.at(-1) as never)).toContain('m5 Ada, reply to m2: Three?');
    });

    test('[K7] no number and no id gives access to a space, a message or an output of others', async () => {
      const odd = [
        '0',
        '-1',
        'm0',
        'm-1',
        '1e9',
        '0x2',
        '999999999999999',
        '9'.repeat(30),
        '2.5',
        '٢',
        '\0',
        ' ',
        "' or 1=1",
      ];
      const calls: ScriptedCall[] = [];
      const { world, ada, bot, told } = await agentThatCalls([{ toolName: 'large' }], [{ toolName: 'large' }], calls);
      const other = await world.agent('Other', { tools: ['large'] });
      const [own, foreign] = [await world.space('Own', [ada, bot]), await world.space('Foreign', [ada, other])];
      const message = await world.say(foreign, ada, 'A secret');
      await world.idle();
      await world.say(own, ada, 'Go');
      await world.idle();
      const ofOther = await world.store.db
        .selectFrom('calls')
        .select('id')
        .where('agent_id', '=', other)
        .executeTakeFirstOrThrow();
      for (const spaceId of [...odd, '2', foreign])
        for (const toolName of ['enter_space', 'read_messages']) calls.push({ toolName, input: { spaceId } });
      for (const replyTo of [...odd, message])
        calls.push({ toolName: 'send_message', input: { text: 'Yes', replyTo } });
      for (const ref of [...odd, '2', ofOther.id]) calls.push({ toolName: 'read_output', input: { ref } });
      await world.say(own, ada, 'Read');
      await world.idle();
      const results = told.slice(-calls.length);
      expect(results).toHaveLength(calls.length);
      for (const [index, text] of results.entries()) {
        const { toolName, input } = calls[index] as ScriptedCall;
        const expected = /^There is no (space|output)|must be the id of a message|must match|does not fit|invalid/i;
        expect([toolName, input, text]).toEqual([toolName, input, expect.stringMatching(expected)]);
        expect(text).not.toContain('secret');
        expect(text).not.toContain('Foreign');
      }
      expect(await activeSpace(world, bot)).toBe(own);
      const sent = world.store.db
        .selectFrom('messages')
        .select('id')
        .where('entity_id', '=', bot)
        .where('kind', '=', 'text');
      expect(await sent.execute()).toEqual([]);
    });

    test('[K7] a shortened output is read by the number of its call, and one that does not exist lists those that do', async () => {
      const read = (ref: unknown, offset = 0): ScriptedCall => ({ toolName: 'read_output', input: { ref, offset } });
      const { world, ada, bot, model, told } = await agentThatCalls(
        [{ toolName: 'large' }],
        [read('call 1', 29_990), read('1', 29_990), read(1, 29_990), read('call 99')],
      );
      const limited = world.with({ outputBytes: 100 });
      expect(limited.services.limits.outputBytes).toBe(100);
      const space = await world.space('Lobby', [ada, bot]);
      await world.say(space, ada, 'Go');
      await world.idle();
      await world.say(space, ada, 'Read');
      await world.idle();
      expect(told.slice(1, 4)).toEqual(['abcdefghij', 'abcdefghij', 'abcdefghij']);
      expect(told[4]).toMatch(/^There is no output "call 99"\. The newest are: .*call 1 \(large\)\.$/);
      expect(JSON.stringify(model.requests.at(-1)?.prompt)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[78]/);
    });
  },
  databases,
);

test.each([
  '"pay" became pending as call ID, for approval. The outcome comes later.',
  '"pay" became pending as call ID. The outcome comes later.',
  // Ids of earlier versions in stored transcripts.
  '"pay" was waiting for approval when this was written (call ID). Its outcome comes later and names this call.',
  '"pay" was pending when this was written (call ID). Its outcome comes later and names this call.',
])('a provisional result names its call in the same way as the answer: %s', (text) => {
  const callId = callIds(7)();
  const output = { type: 'text' as const, value: text.replace('ID', callId) };
  const shown = nameCalls({ type: 'tool-result', toolCallId: callId, toolName: 'pay', output });
  expect(shown).toMatchObject({ output: { value: text.replace('ID', '7') } });
});
