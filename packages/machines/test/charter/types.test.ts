import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  charter,
  createMachine,
  node,
  pack,
  type StateContext,
  spawn,
  stateTool,
  suspend,
  to,
} from '../../src/index.ts';

const state = z.object({ count: z.number(), name: z.string().optional() });
type State = { count: number; name?: string | undefined };

test('the state of a node is typed in its instructions, tools, transitions and commands', () => {
  const counter = node({
    instructions: (now) => {
      expectTypeOf(now).toEqualTypeOf<Readonly<State>>();
      return 'counter';
    },
    state,
    initialState: { count: 0 },
    tools: (tool) => ({
      add: tool({
        description: 'Adds.',
        inputSchema: z.object({ by: z.number() }),
        execute: ({ by }, ctx) => {
          expectTypeOf(by).toEqualTypeOf<number>();
          expectTypeOf(ctx).toEqualTypeOf<StateContext<State>>();
          // @ts-expect-error: there is no such field
          expect(() => ctx.updateState({ total: 1 })).toBeTypeOf('function');
          return ctx.state.count + by;
        },
      }),
    }),
    transitions: (transition) => ({
      done: transition({
        description: 'Done.',
        inputSchema: z.object({ why: z.string() }),
        handler: ({ why }, ctx) => {
          expectTypeOf(why).toEqualTypeOf<string>();
          expectTypeOf(ctx.state.count).toEqualTypeOf<number>();
          return suspend(why);
        },
      }),
      again: 'counter',
    }),
    commands: (command) => ({
      reset: command({
        inputSchema: z.object({ to: z.number() }),
        execute: ({ to: count }, ctx) => {
          expectTypeOf(count).toEqualTypeOf<number>();
          ctx.updateState({ count });
        },
      }),
    }),
  });
  expect(createMachine(charter({ nodes: { counter } }), { root: counter }).tree.root.state).toEqual({ count: 0 });
});

test('they may be plain objects too, with the input types annotated where they are used', () => {
  const plain = node({
    instructions: 'plain',
    state,
    initialState: { count: 1 },
    transitions: {
      go: {
        description: 'Goes.',
        inputSchema: z.object({ n: z.number() }),
        handler: ({ n }: { n: number }, ctx) => {
          expectTypeOf(ctx.state).toEqualTypeOf<Readonly<State>>();
          return n > 0 ? to('plain', { count: n }) : spawn('plain');
        },
      },
    },
    commands: { look: { execute: (_input, ctx) => ctx.state.count } },
  });
  expect(charter({ nodes: { plain } }).nodeNames).toEqual(['plain']);
});

test('a state that does not fit its schema is a type error', () => {
  // @ts-expect-error: count is a number
  expect(() => charter({ nodes: { a: node({ instructions: 'a', state, initialState: { count: 'x' } }) } })).toThrow(
    'count',
  );
  const shelf = pack({ name: 'shelf', state, initialState: { count: 0 } });
  stateTool<State>()({
    description: 'Looks.',
    inputSchema: z.object({}),
    execute: (_input, ctx) => {
      expectTypeOf(ctx.pack(shelf).count).toEqualTypeOf<number>();
    },
  });
});
