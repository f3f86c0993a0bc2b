import { tool } from '@lastcall/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type CharterDefinition, CharterError, charter, createMachine, node, pack, to } from '../../src/index.ts';

const noop = tool({ description: 'Does nothing.', inputSchema: z.object({}), execute: () => 'ok' });
const notes = pack({
  name: 'notes',
  state: z.object({ n: z.number() }),
  initialState: { n: 0 },
  tools: { write: noop },
});
const twin = pack({ name: 'twin', state: z.object({}), initialState: {}, tools: { write: noop } });
const plain = node({ instructions: 'plain' });

function problem(definition: unknown): CharterError {
  return refused(() => charter(definition as CharterDefinition));
}

function refused(make: () => unknown): CharterError {
  try {
    make();
  } catch (error) {
    if (error instanceof CharterError) return error;
    throw error;
  }
  throw new Error('The charter was not refused.');
}

function inNode(definition: object, rest: object = {}): CharterError {
  return problem({ nodes: { a: node({ instructions: 'a', ...definition } as never), plain }, ...rest });
}

describe('reserved names', () => {
  for (const name of ['updateState', 'transition', 'cede', 'spawn', 'suspend', 'transition_x']) {
    test(`[M11] a tool named "${name}" fails the charter, wherever it is defined`, () => {
      const tools = { [name]: noop };
      expect(inNode({ tools }).path).toBe(`nodes.a.tools.${name}`);
      expect(problem({ nodes: { plain }, tools }).path).toBe(`tools.${name}`);
      const owner = pack({ name: 'owner', state: z.object({}), initialState: {}, tools });
      expect(problem({ nodes: { plain }, packs: [owner] }).path).toBe(`packs.owner.tools.${name}`);
    });
  }

  test('[M11] a name that only resembles a reserved one is fine', () => {
    const tools = { update_state: noop, transitional: noop, updatestate: noop };
    expect(charter({ nodes: { a: node({ instructions: 'a', tools }) } }).nodeNames).toEqual(['a']);
  });
});

describe('charters that cannot work are refused, naming the path', () => {
  const handler = () => to('plain');
  const cases: Record<string, [make: () => CharterError, path: string]> = {
    'no nodes': [() => problem({ nodes: {} }), 'nodes'],
    'nothing at all': [() => problem(undefined), 'charter'],
    'what is no node': [() => problem({ nodes: { a: { instructions: 'a' } } }), 'nodes.a'],
    'a name that is not its key': [() => problem({ nodes: { a: node({ name: 'b', instructions: 'a' }) } }), 'nodes.a'],
    'one node under two keys': [() => problem({ nodes: { a: plain, b: plain } }), 'nodes.b'],
    'no instructions': [() => inNode({ instructions: undefined }), 'nodes.a.instructions'],
    'a transition to an unknown node': [() => inNode({ transitions: { done: 'gone' } }), 'nodes.a.transitions.done'],
    'an unknown target': [
      () => inNode({ transitions: { done: { description: 'D.', handler, targets: [plain, 'gone'] } } }),
      'nodes.a.transitions.done.targets[1]',
    ],
    'a shared transition to an unknown node': [
      () => problem({ nodes: { plain }, transitions: { done: 'gone' } }),
      'transitions.done',
    ],
    'a transition that is nothing': [() => inNode({ transitions: { done: 3 } }), 'nodes.a.transitions.done'],
    'a decision in the place of a handler': [
      () => inNode({ transitions: { done: to('plain') } }),
      'nodes.a.transitions.done',
    ],
    'a transition without a handler': [
      () => inNode({ transitions: { done: { description: 'D.' } } }),
      'nodes.a.transitions.done.handler',
    ],
    'a transition with an empty description': [
      () => inNode({ transitions: { done: { description: '', handler } } }),
      'nodes.a.transitions.done',
    ],
    'a list of nodes without names': [() => problem({ nodes: [plain] as never }), 'nodes[0]'],
    'a pack by a name that nobody has': [() => inNode({ packs: ['gone'] }), 'nodes.a.packs[0]'],
    'a pack whose name no object can hold': [
      () => refused(() => pack({ name: '__proto__', state: z.object({}), initialState: {} })),
      'pack.name',
    ],
    'a transition whose schema is none': [
      () => inNode({ transitions: { done: { description: 'D.', handler, inputSchema: z.string() } } }),
      'nodes.a.transitions.done',
    ],
    'a transition with a name no provider takes': [
      () => inNode({ transitions: { 'so so': { description: 'D.', handler } } }),
      'nodes.a.transitions.so so',
    ],
    'a pack that is not registered': [() => inNode({ packs: [notes] }), 'nodes.a.packs[0]'],
    'a worker with packs': [() => inNode({ worker: true, packs: [notes] }, { packs: [notes] }), 'nodes.a.packs'],
    'two packs with the same tool': [
      () => inNode({ packs: [notes, twin] }, { packs: [notes, twin] }),
      'nodes.a.packs[1]',
    ],
    'a pack registered twice': [() => problem({ nodes: { plain }, packs: [notes, notes] }), 'packs.notes'],
    'a pack whose state does not fit': [
      () =>
        problem({
          nodes: { plain },
          packs: [pack({ name: 'bad', state: z.object({ n: z.number() }), initialState: { n: 'x' } as never })],
        }),
      'packs.bad.initialState.n',
    ],
    'an initial state against its schema': [
      () => inNode({ state: z.object({ at: z.object({ x: z.number() }) }), initialState: { at: { x: 'no' } } }),
      'nodes.a.initialState.at.x',
    ],
    'an initial state without a schema': [() => inNode({ initialState: { n: 1 } }), 'nodes.a.initialState'],
    'an initial state that is no plain data': [
      () => inNode({ state: z.looseObject({}), initialState: { at: new Date() } }),
      'nodes.a.initialState.at',
    ],
    'a state schema that changes what it has made': [
      () => inNode({ state: z.object({ v: z.string().transform((v) => `${v}!`) }), initialState: { v: 'a' } }),
      'nodes.a.initialState',
    ],
    'a state schema that does not take what it has made': [
      () => inNode({ state: z.object({ v: z.string().transform(Number) }), initialState: { v: '1' } }),
      'nodes.a.initialState',
    ],
    'a state that is no schema': [() => inNode({ state: 3 }), 'nodes.a.state'],
    'a state schema that validates later': [
      () => inNode({ state: z.object({}).refine(async () => true), initialState: {} }),
      'nodes.a.initialState',
    ],
    'a tool that is none': [() => inNode({ tools: { x: 3 } }), 'nodes.a.tools'],
    'a tool that is a transition of core': [
      () => inNode({ tools: { x: tool({ ...noop, transition: true }) } }),
      'nodes.a.tools.x',
    ],
    'a command without execute': [() => inNode({ commands: { go: {} } }), 'nodes.a.commands.go'],
    'a command whose schema is none': [
      () => inNode({ commands: { go: { inputSchema: z.string(), execute: () => 1 } } }),
      'nodes.a.commands.go',
    ],
    'an inline node that cannot work': [
      () => inNode({ transitions: { done: node({ instructions: 'x', tools: { cede: noop } }) } }),
      'nodes.a.transitions.done.tools.cede',
    ],
    'two nodes of one name': [
      () => inNode({ transitions: { done: node({ name: 'plain', instructions: 'another' }) } }),
      'nodes.a.transitions.done',
    ],
  };
  for (const [what, [make, path]] of Object.entries(cases)) {
    test(`${what}: ${path}`, () => {
      const error = make();
      expect(error.path).toBe(path);
      expect(error.message.startsWith(`${path}: `)).toBe(true);
    });
  }

  test('a machine with a root that cannot be one is refused', () => {
    const worker = node({ instructions: 'w', worker: true });
    const strict = node({ instructions: 's', state: z.object({ n: z.number() }) });
    const made = charter({ nodes: { plain, worker, strict } });
    // @ts-expect-error: there is no such node
    expect(() => createMachine(made, { root: 'gone' })).toThrow('root: there is no node "gone"');
    expect(() => createMachine(made, { root: worker })).toThrow('is a worker');
    expect(() => createMachine(made, { root: strict })).toThrow('n:');
    // @ts-expect-error: n is a number
    expect(() => createMachine(made, { root: strict, state: { n: 'x' } })).toThrow('n:');
    const changing = node({ instructions: 'c', state: z.object({ v: z.string().transform((v) => `${v}!`) }) });
    expect(() => createMachine(charter({ nodes: { changing } }), { root: changing, state: { v: 'a' } })).toThrow(
      'its schema changes its own output',
    );
    expect(createMachine(made, { root: strict, state: { n: 1 } }).tree.root.state).toEqual({ n: 1 });
    expect(() => createMachine({} as never, { root: 'plain' })).toThrow('must come from charter');
  });

  test('inline nodes are named by their path, or by their own name', () => {
    const inner = node({ instructions: 'inner' });
    const named = node({ name: 'desk', instructions: 'desk' });
    const outer = node({ instructions: 'outer', transitions: { inner, named } });
    const made = charter({
      nodes: { outer },
      transitions: { help: node({ instructions: 'help', transitions: { outer } }) },
    });
    expect(made.nodeNames).toEqual(['outer', 'help', 'outer.inner', 'desk']);
  });
});
