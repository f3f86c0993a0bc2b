import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cede, charter, createMachine, node, spawn, suspend, type Transition, to } from '../../src/index.ts';
import { reasons, run, texts } from '../kit.ts';

const strict = node({ instructions: 'strict', state: z.object({ count: z.number().positive() }) });
const loose = node({ instructions: 'loose', state: z.looseObject({}) });
const worker = node({ instructions: 'worker', worker: true });

const failing: Record<string, { handler: () => Transition | Promise<Transition>; says: RegExp }> = {
  'a handler that throws': {
    handler: () => {
      throw new Error('not now');
    },
    says: /not now/,
  },
  'a handler that rejects': { handler: () => Promise.reject(new Error('later')), says: /later/ },
  'a handler that returns nothing': { handler: () => undefined as never, says: /must return to\(\), spawn\(\)/ },
  'a look-alike of a decision': { handler: () => ({ kind: 'to', node: 'strict', state: {} }), says: /must return/ },
  'a target state against its validator': { handler: () => to(strict, { count: -1 }), says: /count/ },
  'a target that needs a state and gets none': { handler: () => to(strict), says: /count/ },
  'a state that is no plain data': { handler: () => to(loose, { at: new Date() }), says: /state/ },
  'an unknown node': { handler: () => to('nowhere'), says: /no node "nowhere"/ },
  'something that is no node': { handler: () => to({} as never), says: /must come from node/ },
  'an inline node that cannot work': { handler: () => to(node({ instructions: 3 as never })), says: /instructions/ },
  'ceding the root': { handler: () => cede('over'), says: /root cannot cede/ },
  'becoming a worker': { handler: () => to(worker), says: /is a worker: spawn it/ },
  'spawning nobody': { handler: () => spawn([]), says: /no node/ },
  'spawning with a state that does not fit': { handler: () => spawn(strict, { count: 0 }), says: /count/ },
  'a content that is no plain data': { handler: () => cede(() => {}), says: /plain data|root cannot/ },
  'a reason that is no plain data': { handler: () => suspend(10n), says: /plain data/ },
};

describe('a transition that does not fit', () => {
  for (const [what, { handler, says }] of Object.entries(failing)) {
    test(`[M6] ${what}: an error result, the tree unchanged, the run continues`, async () => {
      const root = node({ instructions: 'root', transitions: { go: { description: 'Goes.', handler } } });
      const machine = createMachine(charter({ nodes: { root, strict, loose, worker } }), { root });
      const before = machine.tree.root;
      const { steps, requests } = await run(machine, [{ toolName: 'transition_go' }, 'I stay.'], { input: 'Go.' });
      expect(reasons(steps)).toEqual(['tool_use', 'end_turn']);
      expect(steps[0]?.settlements).toMatchObject([{ outcome: { status: 'error' } }]);
      expect(texts(requests[1]).at(-1)).toMatch(says);
      expect(machine.tree.root).toEqual(before);
      expect(steps[1]?.response).toBe('I stay.');
    });
  }

  test('[M6] an unknown transition and arguments against the schema: error results, the tree unchanged', async () => {
    const inputSchema = z.object({ reason: z.string() });
    const root = node({
      instructions: 'root',
      transitions: { go: { description: 'Goes.', inputSchema, handler: () => to(strict, { count: 1 }) } },
    });
    const machine = createMachine(charter({ nodes: { root, strict } }), { root });
    const calls = [{ toolName: 'transition_fly' }, { toolName: 'transition_go', input: { reason: 3 } }];
    const { steps } = await run(machine, [calls, 'I stay.'], { input: 'Go.' });
    expect(steps[0]?.settlements.map(({ outcome }) => outcome)).toMatchObject([
      { status: 'error', code: 'unknown_tool' },
      { status: 'error', code: 'invalid_input' },
    ]);
    expect(machine.tree.root.node).toBe('root');
    expect(steps.at(-1)?.response).toBe('I stay.');
  });

  test('[M6] the writes of a handler that throws are dropped', async () => {
    const root = node({
      instructions: 'root',
      state: z.object({ count: z.number() }),
      initialState: { count: 0 },
      transitions: {
        go: {
          description: 'Writes and throws.',
          handler: (_input, ctx) => {
            ctx.updateState({ count: 9 });
            throw new Error('no');
          },
        },
      },
    });
    const machine = createMachine(charter({ nodes: { root } }), { root });
    await run(machine, [{ toolName: 'transition_go' }, 'I stay.'], { input: 'Go.' });
    expect(machine.tree.root.state).toEqual({ count: 0 });
  });
});
