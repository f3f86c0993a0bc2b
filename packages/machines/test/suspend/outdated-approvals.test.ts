import { pending, tool } from '@lastcall/core';
import { crashingJournal } from '@lastcall/core/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  cede,
  charter,
  createMachine,
  deserializeMachine,
  machineFromRecords,
  node,
  serializeMachine,
  spawn,
  to,
} from '../../src/index.ts';
import { type Asked, problemOf, reasons, run, texts } from '../kit.ts';

const sent: string[] = [];
const sends = (what: string) =>
  tool({
    description: `Sends ${what}.`,
    inputSchema: z.object({}),
    approval: true,
    execute: () => {
      sent.push(what);
      return `Sent ${what}.`;
    },
  });
const shared = sends('the report');
const transitions = { bank: 'bank', archive: 'archive' };
const commands = { away: () => to('bank') };
const answer = tool({ description: 'Answers.', inputSchema: z.object({}), terminal: true, execute: () => 'Wait.' });
const asks = tool({
  description: 'Asks.',
  inputSchema: z.object({}),
  execute: (_input, ctx) => (ctx.answer === undefined ? pending({ asks: true }) : 'Answered.'),
});
const team = charter({
  nodes: {
    desk: node({
      instructions: 'desk',
      tools: { send: sends('a draft'), shared, asks, answer },
      transitions,
      commands,
    }),
    bank: node({ instructions: 'bank', tools: { send: sends('all the money'), shared } }),
    archive: node({ instructions: 'archive', tools: { shared } }),
  },
  tools: { everywhere: sends('a greeting') },
});
const make = () => createMachine(team, { root: 'desk' });
const CANCELLED = 'Cancelled: "desk" (root) moved on to "bank".';

beforeEach(() => {
  sent.length = 0;
});

describe('a call that waits to run when its instance moves on', () => {
  test('[M25] is cancelled if the next node has another tool of that name: an approval never runs another tool', async () => {
    const machine = make();
    const { steps, requests } = await run(machine, [[{ toolName: 'send' }, { toolName: 'transition_bank' }], 'Bank.'], {
      input: 'Go.',
    });
    expect(reasons(steps)).toEqual(['transition', 'end_turn']);
    expect(machine.suspended).toEqual([]);
    expect(texts(requests[1]).at(-1)).toContain(CANCELLED);
    expect(requests.map(problemOf)).toEqual([undefined, undefined]);
    expect(steps[0]?.settlements.map(({ toolName, outcome }) => [toolName, outcome.status])).toEqual([
      ['send', 'cancelled'],
      ['transition_bank', 'ok'],
    ]);
    await run(machine, ['Done.'], { input: 'And?' });
    expect(sent).toEqual([]);
    expect(deserializeMachine(team, serializeMachine(machine)).tree).toEqual(machine.tree);
  });

  for (const toolName of ['send', 'asks'])
    test(`[M25] is cancelled if the next node has no such tool: ${toolName}`, async () => {
      const machine = make();
      await run(machine, [[{ toolName }, { toolName: 'transition_archive' }], 'Archived.'], { input: 'Go.' });
      expect(machine.suspended).toEqual([]);
    });

  for (const toolName of ['shared', 'everywhere'])
    test(`[M25] goes on waiting if the next node has the same tool: ${toolName}`, async () => {
      const machine = make();
      await run(machine, [[{ toolName }, { toolName: 'transition_bank' }], 'Bank.'], { input: 'Go.' });
      machine.resume(machine.suspended[0]?.id ?? '', true);
      await run(machine, ['Sent.']);
      expect(sent).toHaveLength(1);
    });

  test('[M25] is cancelled too if a command moves an instance that has answered meanwhile', async () => {
    const machine = make();
    await run(machine, [[{ toolName: 'send' }, { toolName: 'answer' }]], { input: 'Go.' });
    expect(machine.suspended).toHaveLength(1);
    await machine.command('away');
    expect(machine.suspended).toEqual([]);
    const { requests } = await run(machine, ['Bank.'], { input: 'Hello?' });
    expect(texts(requests[0]).join()).toContain(CANCELLED);
    expect(requests.map(problemOf)).toEqual([undefined]);
  });

  test('[M25] [A16] is cancelled once, also if the process ends at any write of the run', async () => {
    for (const when of ['before', 'after'] as const)
      for (let at = 1; at <= 6; at++) {
        const journal = crashingJournal(at, { when });
        const calls = [{ toolName: 'send' }, { toolName: 'transition_bank' }];
        const asked = ({ prompt }: Asked) => (prompt.some(({ role }) => role === 'tool') ? 'Bank.' : calls);
        await run(make(), [asked, asked], { input: 'Go.', journal });
        const { kept } = journal;
        if (kept.records.length === 0) continue;
        const restored = machineFromRecords(team, kept.records);
        await run(restored, [asked, asked, asked], { journal: kept });
        const again = machineFromRecords(team, kept.records);
        const ends = again.history.flatMap((one) => (one.kind === 'settled' ? one.settlement.toolName : []));
        expect([when, at, ends.toSorted()]).toEqual([when, at, ['send', 'transition_bank']]);
        expect(again.history).toEqual(restored.history);
        expect(again.suspended).toEqual([]);
      }
  });
});

test('[M25] an approved call of an instance that has spawned a child meanwhile runs once the child has ceded, and only once', async () => {
  const lead = node({
    instructions: 'lead',
    tools: { send: sends('a draft') },
    commands: { hire: () => spawn('kid') },
  });
  const kid = node({ instructions: 'kid', commands: { leave: () => cede('bye') } });
  const machine = createMachine(charter({ nodes: { lead, kid } }), { root: 'lead' });
  await run(machine, [[{ toolName: 'send' }]], { input: 'Go.' });
  const [waiting] = machine.suspended;
  await machine.command('hire');
  machine.resume(waiting?.id ?? '', true);
  await run(machine, ['Hello.']);
  expect([sent, machine.suspended]).toEqual([[], []]);
  await machine.command('leave');
  await run(machine, ['Done.']);
  expect(sent).toEqual(['a draft']);
});
