import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { charter, createMachine, node, type ToolDefinition } from '../../src/index.ts';
import { run } from '../kit.ts';

interface State {
  readonly count: number;
}

const formatResult: ToolDefinition<{ items: string[] }, string, State> = {
  name: 'formatResult',
  description: 'Format items into the final response',
  terminal: true,
  inputSchema: z.object({ items: z.array(z.string()) }),
  execute: ({ items }) => items.map((i, n) => `${n + 1}. ${i}`).join('\n'),
};

const counted: ToolDefinition<{ by: number }, number, State> = {
  name: 'counted',
  description: 'Counts.',
  inputSchema: z.object({ by: z.number() }),
  effects: 'session',
  execute({ by }, ctx) {
    expectTypeOf(ctx.state).toEqualTypeOf<Readonly<State>>();
    ctx.updateState({ count: ctx.state.count + by });
    return ctx.state.count;
  },
};

const root = node({
  instructions: 'Count.',
  state: z.object({ count: z.number() }),
  initialState: { count: 1 },
  tools: { formatResult, counted },
});

test('[M1] a tool written as an object with ToolDefinition<Input, Output, State> gives the response', async () => {
  const machine = createMachine(charter({ nodes: { root } }), { root });
  const { steps } = await run(machine, [[{ toolName: 'formatResult', input: { items: ['Apple', 'Banana'] } }]], {
    input: 'List them.',
  });
  expect(steps[0]).toMatchObject({ yieldReason: 'end_turn', response: '1. Apple\n2. Banana', done: true });
});

test('such a tool reads and changes the state', async () => {
  const machine = createMachine(charter({ nodes: { root } }), { root });
  const { steps } = await run(machine, [{ toolName: 'counted', input: { by: 2 } }, 'Three.'], { input: 'Count.' });
  expect(steps.flatMap(({ settlements }) => settlements.map(({ outcome }) => outcome.text))).toEqual(['3']);
  expect(machine.tree.root.state).toEqual({ count: 3 });
});
