import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyNode,
  CharterError,
  cede,
  charter,
  createMachine,
  type Machine,
  node,
  spawn,
  to,
} from '../../src/index.ts';
import { outcomes, run } from '../kit.ts';

const refund = node({
  instructions: 'refund',
  state: z.object({
    orderId: z.string(),
    items: z.array(z.string()).default([]),
    how: z.enum(['card', 'cash']).optional(),
  }),
});
const desk = node({ instructions: 'desk', state: z.object({ open: z.boolean() }), initialState: { open: true } });
const plain = node({ instructions: 'plain' });
const helper = node({ instructions: 'helper', worker: true });

function refused(make: () => unknown): CharterError {
  try {
    make();
  } catch (error) {
    if (error instanceof CharterError) return error;
    throw error;
  }
  throw new Error('The charter was not refused.');
}

test('[M30] valid targets compile: names, nodes, lists, states with defaults left out, inline nodes by their names', () => {
  const start = node({
    instructions: 'start',
    state: z.object({ n: z.number().default(0) }),
    transitions: {
      byName: {
        inputSchema: z.object({ orderId: z.string() }),
        handler: ({ orderId }) => to('refund', { orderId, items: ['a'], how: 'card' }),
      },
      byNode: { handler: () => to(refund, { orderId: 'A' }) },
      spawned: { handler: () => spawn('refund', { orderId: 'A' }) },
      list: { handler: () => spawn([helper, 'plain', { node: 'refund', state: { orderId: 'A' } }, { node: desk }]) },
      either: { handler: async (_input, ctx) => (ctx.state.n > 0 ? to('desk') : cede()) },
      chosen: { inputSchema: z.object({ node: z.enum(['plain', 'desk']) }), handler: ({ node: name }) => to(name) },
      anywhere: { inputSchema: z.object({ node: z.string() }), handler: ({ node: name }) => to(name) },
      itself: { handler: () => to('start', { n: 1 }) },
      inner: node({ instructions: 'inner', transitions: { back: 'start' } }),
      toInner: { handler: () => to('start.inner') },
      toShared: { handler: () => to('help') },
      short: 'desk',
    },
    commands: { leave: () => to('plain') },
  });
  const made = charter({
    nodes: { start, refund, desk, plain, helper },
    transitions: { help: node({ instructions: 'help' }), home: 'start' },
  });
  expect(made.nodeNames).toContain('start.inner');
  expect(createMachine(made, { root: 'refund', state: { orderId: 'A' } }).tree.root.state).toEqual({
    orderId: 'A',
    items: [],
  });
});

test('[M30] a list of nodes, and nodes that are collected at run time, are checked when the charter is built', () => {
  const start = node({ name: 'start', instructions: 'start', transitions: { go: { handler: () => to('plain') } } });
  const gathered: Record<string, AnyNode> = { plain, start };
  expect(charter({ nodes: gathered }).nodeNames).toEqual(['plain', 'start']);
  expect(charter({ nodes: [start, node({ name: 'plain', instructions: 'p' })] }).nodeNames).toEqual(['start', 'plain']);
});

describe('the charter, when it is built, refuses what the compiler cannot check', () => {
  test('[M30] a node that does not exist, with the nearest name', () => {
    const start = node({ instructions: 'start', transitions: { go: 'refnud' } });
    const error = refused(() => charter({ nodes: { start, refund, desk } as never }));
    expect(error.path).toBe('nodes.start.transitions.go');
    expect(error.message).toContain('there is no node "refnud"; did you mean "refund"?');
    const listed = node({
      instructions: 'start',
      transitions: { go: { handler: () => cede(), targets: ['plain', 'dsek'] } },
    });
    expect(refused(() => charter({ nodes: { listed, desk, plain } })).message).toContain('did you mean "desk"?');
    expect(() => createMachine(charter({ nodes: { desk } }), { root: 'dsek' as never })).toThrow(
      'root: there is no node "dsek"; did you mean "desk"?',
    );
  });

  test('[M30] a short transition to a node that needs an initial state', () => {
    for (const target of ['refund', refund] as const) {
      const start = node({ instructions: 'start', transitions: { go: target } });
      const error = refused(() => charter({ nodes: { start, refund } as never }));
      expect(error.path).toBe('nodes.start.transitions.go');
      expect(error.message).toContain('"refund" has no initial state');
      expect(error.message).toContain('orderId');
    }
    const shared = refused(() => charter({ nodes: { refund }, transitions: { go: 'refund' } } as never));
    expect(shared.path).toBe('transitions.go');
    expect(charter({ nodes: { desk }, transitions: { go: 'desk' } }).nodeNames).toEqual(['desk']);
  });

  test('[M30] the same for a node that a handler returns: its transition fails, and the tree is unchanged', async () => {
    const late = () => node({ instructions: 'late', transitions: { go: 'refund' } as never });
    const start = node({ instructions: 'start', transitions: { go: { handler: () => to(late()) } } });
    const machine = createMachine(charter({ nodes: { start, refund } }), { root: 'start' });
    const { steps } = await run(machine, [{ toolName: 'transition_go' }, 'I stay.'], { input: 'Go.' });
    expect(outcomes(steps)[0]?.[2]).toContain('"refund" has no initial state');
    expect(machine.tree.root.node).toBe('start');
  });
});

// Never called: the test is that these lines do not compile, which `tsc -b` checks.
export function misdirectionsDoNotCompile(): Machine {
  const gone = node({ instructions: 'x', transitions: { go: { handler: () => to('gone') } } });
  // @ts-expect-error "go" of "gone2" leads to "gone"
  charter({ nodes: { gone2: gone, refund } });
  const short = node({ instructions: 'x', transitions: { go: 'gone' } });
  // @ts-expect-error "go" of "short" leads to "gone"
  charter({ nodes: { short, refund } });
  const later = node({ instructions: 'x', transitions: { go: async () => (Math.random() > 1 ? cede() : to('gone')) } });
  // @ts-expect-error "go" of "later" leads to "gone"
  charter({ nodes: { later, refund } });
  const listed = node({ instructions: 'x', transitions: { go: { handler: () => spawn([refund, 'gone']) } } });
  // @ts-expect-error "go" of "listed" leads to "gone"
  charter({ nodes: { listed, refund } });
  const made = node({
    instructions: 'x',
    transitions: (transition) => ({ go: transition({ handler: () => to('gone') }) }),
  });
  // @ts-expect-error "go" of "made" leads to "gone"
  charter({ nodes: { made, refund } });
  const commanded = node({ instructions: 'x', commands: { go: { execute: () => to('gone') } } });
  // @ts-expect-error "go" of "commanded" leads to "gone"
  charter({ nodes: { commanded, refund } });
  // @ts-expect-error "go" of the charter leads to "gone"
  charter({ nodes: { refund }, transitions: { go: { handler: () => to('gone') } } });

  const wrong = node({ instructions: 'x', transitions: { go: { handler: () => to('refund', { orderId: 5 }) } } });
  // @ts-expect-error the state does not fit "refund"
  charter({ nodes: { wrong, refund } });
  const chosen = node({
    instructions: 'x',
    transitions: { go: { handler: () => to('refund', { orderId: 'A', how: 'cheque' }) } },
  });
  // @ts-expect-error the state does not fit "refund"
  charter({ nodes: { chosen, refund } });
  const child = node({
    instructions: 'x',
    transitions: { go: { handler: () => spawn([{ node: 'refund', state: { orderId: 5 } }]) } },
  });
  // @ts-expect-error the state does not fit "refund"
  charter({ nodes: { child, refund } });
  const stateless = node({ instructions: 'x', transitions: { go: { handler: () => to('plain', { n: 1 }) } } });
  // @ts-expect-error "plain" has no state
  charter({ nodes: { stateless, plain } });
  const none = node({ instructions: 'x', transitions: { go: { handler: () => to('refund') } } });
  // @ts-expect-error "refund" needs a state
  charter({ nodes: { none, refund } });
  const bare = node({ instructions: 'x', transitions: { go: refund } });
  // @ts-expect-error its node needs a state
  charter({ nodes: { bare, refund } });

  // @ts-expect-error orderId is a text, and the node is known
  to(refund, { orderId: 5 });
  // @ts-expect-error orderId is a text, and the node is known
  spawn(refund, { orderId: 5 });
  const known = charter({ nodes: { refund, desk } });
  // @ts-expect-error there is no such node
  createMachine(known, { root: 'gone' });
  // @ts-expect-error open is true or false
  createMachine(known, { root: 'desk', state: { open: 1 } });
  // @ts-expect-error open is true or false
  return createMachine(known, { root: desk, state: { open: 1 } });
}
