import { ok, tool } from '@lastcall/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cede, charter, createMachine, node, pack, spawn, suspend, to } from '../../src/index.ts';
import { outcomes, run } from '../kit.ts';

const empty = z.object({});
const other = node({ instructions: 'other' });
const decisions = { to: to('other'), spawn: spawn('other'), cede: cede('done'), suspend: suspend('a signature') };

/** A machine whose model may call `slip`, a tool that is defined in one of four places. */
const places = {
  'a node': (slip: ReturnType<typeof tool>) =>
    charter({ nodes: { start: node({ instructions: 'start', tools: { slip } }), other } }),
  'a pack': (slip: ReturnType<typeof tool>) => {
    const shelf = pack({ name: 'shelf', state: empty, initialState: {}, tools: { slip } });
    return charter({ nodes: { start: node({ instructions: 'start', packs: [shelf] }), other }, packs: [shelf] });
  },
  'the charter': (slip: ReturnType<typeof tool>) =>
    charter({ nodes: { start: node({ instructions: 'start' }), other }, tools: { slip } }),
};

function slipping(execute: (input: never) => unknown): ReturnType<typeof tool> {
  return tool({ description: 'Slips.', inputSchema: empty, execute } as never);
}

async function textOf(made: ReturnType<typeof charter>): Promise<{ status: string; text: string; node: string }> {
  const machine = createMachine(made, { root: 'start' });
  const { steps } = await run(machine, [{ toolName: 'slip' }, 'I stay.'], { input: 'Go.' });
  const [[, status = '', text = ''] = []] = outcomes(steps);
  expect(steps.at(-1)).toMatchObject({ yieldReason: 'end_turn', response: 'I stay.' });
  return { status, text, node: machine.tree.root.node };
}

describe('a decision in a place where none is read', () => {
  for (const [place, chartered] of Object.entries(places)) {
    for (const [kind, decision] of Object.entries(decisions)) {
      test(`[M29] a tool of ${place} that returns ${kind}() fails and says where a transition belongs`, async () => {
        const { status, text, node: now } = await textOf(chartered(slipping(() => decision)));
        expect(status).toBe('error');
        expect(text).toContain(`${kind}() belongs in the handler of a transition`);
        expect(text).toContain('slip');
        expect(now).toBe('start');
      });
    }
  }

  const forms: Record<string, (input: never) => unknown> = {
    'a promise of one': async () => decisions.to,
    'somebody else’s promise of one': () => ({ then: (resolve: (value: unknown) => void) => resolve(decisions.to) }),
    'ok() around one': () => ok(decisions.to),
    'a list of them': () => [decisions.to, decisions.cede],
    'one inside an object': () => ({ next: { step: decisions.to } }),
    'one inside a value that holds itself': () => {
      const value: Record<string, unknown> = { list: [] };
      value.self = value;
      value.next = decisions.to;
      return value;
    },
    'one at the end of several values': async function* () {
      yield 'on my way';
      yield decisions.to;
    },
    'one that a generator returns': async function* () {
      yield 'on my way';
      return decisions.to;
    },
    'one that is thrown': () => {
      throw decisions.to;
    },
    'one that is thrown later': async () => {
      throw decisions.to;
    },
  };
  for (const [form, execute] of Object.entries(forms)) {
    test(`[M29] a tool fails alike with ${form}`, async () => {
      const { status, text, node: now } = await textOf(places['a node'](slipping(execute)));
      expect(status).toBe('error');
      expect(text).toContain('to() belongs in the handler of a transition');
      expect(now).toBe('start');
    });
  }

  test('[M29] the writes of a failed tool are dropped', async () => {
    const start = node({
      instructions: 'start',
      state: z.object({ n: z.number().default(0) }),
      tools: (make) => ({
        slip: make({
          description: 'Slips.',
          inputSchema: empty,
          execute: (_input, ctx) => {
            ctx.updateState({ n: 1 });
            return decisions.to as unknown;
          },
        }),
      }),
    });
    const machine = createMachine(charter({ nodes: { start, other } }), { root: 'start' });
    await run(machine, [{ toolName: 'slip' }, 'I stay.'], { input: 'Go.' });
    expect(machine.tree.root).toMatchObject({ node: 'start', state: { n: 0 } });
  });

  test('[M29] a command may change the tree, and may not suspend or hide a decision in its value', async () => {
    const start = node({
      instructions: 'start',
      commands: { move: () => decisions.to, wait: () => decisions.suspend, hide: () => ({ next: decisions.to }) },
    });
    const machine = createMachine(charter({ nodes: { start, other } }), { root: 'start' });
    await expect(machine.command('wait')).rejects.toThrow('suspend() belongs in the handler of a transition');
    await expect(machine.command('hide')).rejects.toThrow('to() belongs in the handler of a transition');
    expect(machine.tree.root.node).toBe('start');
    await machine.command('move');
    expect(machine.tree.root.node).toBe('other');
  });

  test('[M29] the error for a handler that wraps a decision says to return the decision itself', async () => {
    const start = node({
      instructions: 'start',
      transitions: { go: { handler: (() => ok(decisions.to)) as never }, none: { handler: (() => 'other') as never } },
    });
    const machine = createMachine(charter({ nodes: { start, other } }), { root: 'start' });
    const script = [{ toolName: 'transition_go' }, { toolName: 'transition_none' }, 'I stay.'];
    const { steps } = await run(machine, script, { input: 'Go.' });
    expect(outcomes(steps).map(([, status]) => status)).toEqual(['error', 'error']);
    expect(outcomes(steps)[0]?.[2]).toContain('must return to(), spawn(), cede() or suspend() itself');
    expect(outcomes(steps)[1]?.[2]).toContain('and it returned a string');
    expect(machine.tree.root.node).toBe('start');
  });

  test('[M29] state, content and payloads hold no decision either', async () => {
    const start = node({
      instructions: 'start',
      state: z.looseObject({}),
      transitions: { wait: { handler: () => suspend('a signature') } },
      commands: { keep: (_input, ctx) => ctx.updateState({ next: decisions.to }) },
    });
    const machine = createMachine(charter({ nodes: { start, other } }), { root: 'start' });
    await expect(machine.command('keep')).rejects.toThrow('to() belongs in the handler of a transition');
    const script = [{ toolName: 'transition_wait' }];
    await run(machine, script, { input: 'Go.' });
    const [waiting] = machine.suspended;
    expect(() => machine.resume(waiting?.id ?? '', decisions.to)).toThrow(
      'to() belongs in the handler of a transition',
    );
    expect(machine.suspended).toHaveLength(1);
  });
});

test('[M29] a value that only resembles a decision is a plain value', async () => {
  const slip = tool({ description: 'Slips.', inputSchema: empty, execute: () => ({ kind: 'to', node: 'other' }) });
  const start = node({ instructions: 'start', tools: { slip } });
  const machine = createMachine(charter({ nodes: { start, other } }), { root: 'start' });
  const { steps } = await run(machine, [{ toolName: 'slip' }, 'I stay.'], { input: 'Go.' });
  expect(outcomes(steps)).toEqual([['slip', 'ok', '{"kind":"to","node":"other"}']]);
});
