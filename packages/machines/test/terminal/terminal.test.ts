import { type ToolSet, tool } from '@lastcall/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cede, charter, createMachine, node, pack, spawn, to } from '../../src/index.ts';
import { outcomes, reasons, run, texts } from '../kit.ts';

const answer = tool({
  description: 'Answers.',
  inputSchema: z.object({ items: z.array(z.string()) }),
  terminal: true,
  execute: ({ items }) => items.map((item, index) => `${index + 1}. ${item}`).join('\n'),
});
const call = { toolName: 'answer', input: { items: ['Apple', 'Banana'] } };
const EXACT = '1. Apple\n2. Banana';
const tools: ToolSet = { answer };
const plain = tool({ description: 'Notes.', inputSchema: z.object({}), execute: () => 'noted' });

describe('a terminal tool gives the response', () => {
  const notes = pack({ name: 'notes', state: z.object({}), initialState: {}, tools });
  const child = node({ instructions: 'child' });
  const start = { description: 'Starts the child.', handler: () => spawn('child') };
  const machines = {
    'the node': () => createMachine(charter({ nodes: { root: node({ instructions: 'r', tools }) } }), { root: 'root' }),
    'the charter': () =>
      createMachine(charter({ nodes: { root: node({ instructions: 'r' }) }, tools }), { root: 'root' }),
    'a pack': () =>
      createMachine(charter({ nodes: { root: node({ instructions: 'r', packs: [notes] }) }, packs: [notes] }), {
        root: 'root',
      }),
  };
  for (const [owner, make] of Object.entries(machines)) {
    test(`[M1] a terminal tool of ${owner} ends the turn with its text as the response`, async () => {
      const { steps, requests } = await run(make(), [[call]], { input: 'List them.' });
      expect(steps).toHaveLength(1);
      expect(steps[0]).toMatchObject({ yieldReason: 'end_turn', response: EXACT, output: EXACT, done: true });
      expect(requests).toHaveLength(1);
    });
  }

  test('[M1] a terminal tool of an ancestor ends the turn of its child', async () => {
    const root = node({ instructions: 'r', tools, transitions: { start } });
    const machine = createMachine(charter({ nodes: { root, child } }), { root });
    const { steps } = await run(machine, [{ toolName: 'transition_start' }, [call]], { input: 'List them.' });
    expect(steps.at(-1)).toMatchObject({ yieldReason: 'end_turn', response: EXACT, done: true });
    expect(machine.primary?.id).toBe('root.1');
  });
});

describe('a terminal tool among others', () => {
  const failing = tool({
    description: 'Fails.',
    inputSchema: z.object({}),
    terminal: true,
    execute: () => {
      throw new Error('no');
    },
  });
  const root = node({
    instructions: 'r',
    tools: { answer, failing, plain },
    transitions: {
      next: 'other',
      broken: {
        description: 'Breaks.',
        handler: () => {
          throw new Error('broken');
        },
      },
    },
  });
  const other = node({ instructions: 'other' });
  const make = () => createMachine(charter({ nodes: { root, other } }), { root });

  test('[M2] a terminal tool that fails does not end the turn, and the model reads why', async () => {
    const { steps, requests } = await run(make(), [{ toolName: 'failing' }, 'Sorry.'], { input: 'Go.' });
    expect(reasons(steps)).toEqual(['tool_use', 'end_turn']);
    expect(steps[1]?.response).toBe('Sorry.');
    expect(texts(requests[1]).at(-1)).toContain('no');
  });

  test('[M2] of two terminal tools the first counts and the second is an error', async () => {
    const second = { ...call, input: { items: ['Cherry'] } };
    const { steps } = await run(make(), [[call, second]], { input: 'Go.' });
    expect(steps[0]).toMatchObject({ response: EXACT, yieldReason: 'end_turn' });
    expect(steps[0]?.settlements.map(({ outcome }) => outcome)).toMatchObject([
      { status: 'ok' },
      { status: 'error', code: 'terminal_already_called' },
    ]);
  });

  for (const order of ['before', 'after'] as const) {
    test(`[M2] a transition ${order} it is taken: the tool's result is in the history but is not the response`, async () => {
      const machine = make();
      const next = { toolName: 'transition_next' };
      const batch = order === 'before' ? [next, call] : [call, next];
      const { steps, requests } = await run(machine, [batch, 'Hello from other.'], { input: 'Go.' });
      expect(reasons(steps)).toEqual(['transition', 'end_turn']);
      expect(steps[0]).not.toHaveProperty('response');
      expect(steps[1]?.response).toBe('Hello from other.');
      expect(texts(requests[1]).at(-1)).toContain(EXACT);
      expect(machine.tree.root.node).toBe('other');
    });

    test(`[M2] if the transition ${order} it fails, the terminal tool counts`, async () => {
      const machine = make();
      const broken = { toolName: 'transition_broken' };
      const { steps } = await run(machine, [order === 'before' ? [broken, call] : [call, broken]], { input: 'Go.' });
      expect(steps).toHaveLength(1);
      expect(steps[0]).toMatchObject({ yieldReason: 'end_turn', response: EXACT, done: true });
      expect(machine.tree.root.node).toBe('root');
    });
  }
});

describe('a worker', () => {
  const root = node({
    instructions: 'r',
    transitions: { start: { description: 'Starts it.', handler: () => spawn('worker') } },
  });
  const worker = node({
    instructions: 'w',
    worker: true,
    tools: { answer, plain },
    transitions: {
      done: { description: 'Done.', handler: () => cede('ceded') },
      again: { description: 'A.', handler: () => to('worker') },
    },
  });
  const make = () => createMachine(charter({ nodes: { root, worker } }), { root });

  test('[M3] its terminal tool finishes it: it cedes with that output, and the turn goes on', async () => {
    const machine = make();
    const { steps, requests } = await run(machine, [{ toolName: 'transition_start' }, [call], 'All done.'], {
      input: 'Go.',
    });
    expect(reasons(steps)).toEqual(['transition', 'cede', 'end_turn']);
    expect(steps[1]).not.toHaveProperty('response');
    expect(steps[2]).toMatchObject({ response: 'All done.', done: true });
    expect(texts(requests[2]).at(-1)).toBe(`user: "worker" (root.1) has finished. Its result:\n\n${EXACT}`);
    expect(machine.tree.root.children).toEqual([]);
  });

  test('[M3] a reply without a call finishes it too', async () => {
    const { steps, requests } = await run(make(), [{ toolName: 'transition_start' }, 'It is 42.', 'Done.'], {
      input: 'Go.',
    });
    expect(reasons(steps)).toEqual(['transition', 'cede', 'end_turn']);
    expect(texts(requests[2]).at(-1)).toContain('It is 42.');
  });

  test('[M2] its terminal tool beside a transition does not finish it', async () => {
    const machine = make();
    const script = [{ toolName: 'transition_start' }, [call, { toolName: 'transition_again' }], 'Over.', 'Done.'];
    const { steps } = await run(machine, script, { input: 'Go.' });
    expect(reasons(steps)).toEqual(['transition', 'transition', 'cede', 'end_turn']);
    expect(outcomes(steps).map(([name, status]) => `${name} ${status}`)).toEqual([
      'transition_start ok',
      'answer ok',
      'transition_again ok',
    ]);
  });
});
