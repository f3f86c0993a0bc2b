import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { charter, createMachine, node, pack, type StateContext, to } from '../../src/index.ts';
import { outcomes, run, systemOf, toolNames } from '../kit.ts';

const refund = node({ instructions: 'Refunds.', state: z.object({ orderId: z.string().default('none') }) });

test('a function is the handler of a transition', async () => {
  const triage = node({
    instructions: 'Triage.',
    state: z.object({ count: z.number().default(0) }),
    transitions: {
      open: ({ orderId }: { orderId: string }, ctx) => {
        expectTypeOf(ctx).toEqualTypeOf<StateContext<{ count: number }>>();
        return to('refund', { orderId });
      },
    },
  });
  const machine = createMachine(charter({ nodes: { triage, refund } }), { root: triage });
  const { steps } = await run(machine, [{ toolName: 'transition_open', input: { orderId: 'A-17' } }, 'Hello.'], {
    input: 'Hi',
  });
  expect(outcomes(steps)).toEqual([['transition_open', 'ok', 'Went on to "refund".']]);
  expect(machine.tree.root).toMatchObject({ node: 'refund', state: { orderId: 'A-17' } });
});

test('a transition without a description is described by its name and its targets', async () => {
  const triage = node({
    instructions: 'Triage.',
    transitions: {
      open: { targets: ['refund'], handler: () => to('refund') },
      else: { handler: () => to('refund') },
      short: 'refund',
    },
  });
  const { requests } = await run(
    createMachine(charter({ nodes: { triage, refund } }), { root: 'triage' }),
    ['Hello.'],
    {
      input: 'Hi',
    },
  );
  expect(requests[0]?.tools?.map((tool) => 'description' in tool && tool.description)).toEqual([
    'The transition "open", to "refund".',
    'The transition "else".',
    'Go on as "refund".',
  ]);
});

test('handler and execute mean the same, in transitions and in commands', async () => {
  const written = {
    instructions: 'Triage.',
    state: z.object({ count: z.number().default(0) }),
    transitions: { open: { description: 'Open.', execute: () => to('refund') } },
    commands: { set: { handler: ({ count }: { count: number }, ctx: StateContext) => ctx.updateState({ count }) } },
  };
  const triage = node(written as never);
  const machine = createMachine(charter({ nodes: { triage, refund } }), { root: 'triage' });
  await machine.command('set', { count: 3 });
  expect(machine.tree.root.state).toEqual({ count: 3 });
  await run(machine, [{ toolName: 'transition_open' }, 'Hello.'], { input: 'Hi' });
  expect(machine.tree.root.node).toBe('refund');
});

test('a function is the execute of a command', async () => {
  const triage = node({
    instructions: 'Triage.',
    state: z.object({ count: z.number().default(0) }),
    commands: { add: (_input, ctx) => ctx.updateState({ count: ctx.state.count + 1 }) },
  });
  const machine = createMachine(charter({ nodes: { triage } }), { root: 'triage' });
  await machine.command('add');
  await machine.command('add');
  expect(machine.tree.root.state).toEqual({ count: 2 });
});

test('nodes may be a list if each has a unique name', () => {
  const one = node({ name: 'one', instructions: '1', transitions: { on: 'two' } });
  const two = node({ name: 'two', instructions: '2' });
  expect(charter({ nodes: [one, two] }).nodeNames).toEqual(['one', 'two']);
  expect(() => charter({ nodes: [one, node({ name: 'one', instructions: 'x' })] })).toThrow('already');
});

test('a node may use a pack by its name', async () => {
  const notes = pack({
    name: 'notes',
    state: z.object({ text: z.string() }),
    initialState: { text: 'milk' },
    instructions: ({ text }) => `Notes: ${text}`,
    tools: (tool) => ({
      note: tool({ description: 'Notes.', inputSchema: z.object({}), execute: (_input, { state }) => state.text }),
    }),
  });
  const triage = node({ instructions: 'Triage.', packs: ['notes'] });
  const machine = createMachine(charter({ nodes: { triage }, packs: [notes] }), { root: 'triage' });
  const { steps, requests } = await run(machine, [{ toolName: 'note' }, 'Hello.'], { input: 'Hi' });
  expect(toolNames(requests[0])).toEqual(['note']);
  expect(systemOf(requests[0])).toContain('Notes: milk');
  expect(outcomes(steps)).toEqual([['note', 'ok', 'milk']]);
});
