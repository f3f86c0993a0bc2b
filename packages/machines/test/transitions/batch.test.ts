import { tool } from '@lastcall/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { charter, createMachine, node, suspend, to } from '../../src/index.ts';
import { outcomes, reasons, run, texts } from '../kit.ts';

const seen: unknown[] = [];
const state = z.object({ log: z.array(z.string()) });
const other = node({ instructions: 'other', state, initialState: { log: [] } });
const root = node({
  instructions: 'root',
  state,
  initialState: { log: [] },
  tools: (make) => ({
    note: make({
      description: 'Notes.',
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text }, ctx) => ctx.updateState({ log: [...ctx.state.log, text] }),
    }),
    break: tool({
      description: 'Fails.',
      inputSchema: z.object({}),
      execute: () => {
        throw new Error('broken');
      },
    }),
  }),
  transitions: {
    go: {
      description: 'Goes on with the log.',
      targets: [other],
      handler: (_input, ctx) => {
        seen.push(ctx.state.log);
        return to(other, { log: [...ctx.state.log, 'moved'] });
      },
    },
    stay: { description: 'Starts anew.', handler: () => to('root') },
    refuse: {
      description: 'Throws.',
      handler: () => {
        throw new Error('not now');
      },
    },
    wait: { description: 'Waits.', handler: () => suspend('wait') },
  },
});
const make = () => createMachine(charter({ nodes: { root, other } }), { root });
const note = (text: string) => ({ toolName: 'note', input: { text } });
const go = { toolName: 'transition_go' };

describe('a transition in a batch', () => {
  test('[M5] applies after its whole batch, on the state after the batch', async () => {
    const machine = make();
    seen.length = 0;
    const { steps } = await run(machine, [[note('before'), go, note('after')], 'Hello.'], { input: 'Hi.' });
    expect(seen).toEqual([['before', 'after']]);
    expect(machine.tree.root).toMatchObject({ node: 'other', state: { log: ['before', 'after', 'moved'] } });
    expect(
      outcomes(steps)
        .map(([name, status]) => `${name} ${status}`)
        .sort(),
    ).toEqual(['note ok', 'note ok', 'transition_go ok']);
  });

  test('[M5] applies even if other calls of the batch fail, whose writes are dropped', async () => {
    const machine = make();
    await run(machine, [[go, { toolName: 'break' }, note('after')], 'Hello.'], { input: 'Hi.' });
    expect(machine.tree.root.state).toEqual({ log: ['after', 'moved'] });
  });

  test('[M5] of two transitions the first counts, and the second is an error', async () => {
    const machine = make();
    const { steps, requests } = await run(machine, [[go, { toolName: 'transition_stay' }], 'Hello.'], { input: 'Hi.' });
    expect(machine.tree.root.node).toBe('other');
    expect(steps[0]?.settlements.map(({ outcome }) => outcome)).toMatchObject([
      { status: 'ok' },
      { status: 'error', code: 'transition_already_called' },
    ]);
    expect(texts(requests[1]).at(-1)).toContain('Only the first counts');
  });

  test('[M5] a first transition that waits counts too, and the second is an error', async () => {
    const machine = make();
    const { steps } = await run(machine, [[{ toolName: 'transition_wait' }, go]], { input: 'Hi.' });
    expect(reasons(steps)).toEqual(['suspend', 'awaiting_resume']);
    expect(steps[0]?.settlements.map(({ outcome }) => outcome)).toMatchObject([
      { status: 'error', code: 'transition_already_called' },
    ]);
    expect(machine.tree.root.node).toBe('root');
  });

  test('[M5] if the first transition fails, the second one is taken', async () => {
    const machine = make();
    await run(machine, [[{ toolName: 'transition_refuse' }, go], 'Hello.'], { input: 'Hi.' });
    expect(machine.tree.root.node).toBe('other');
  });

  test('[M5] applies last, also if the reply is streamed', async () => {
    const machine = make();
    await run(machine, [[go, note('after')], 'Hello.'], { input: 'Hi.', onEvent: () => {} });
    expect(machine.tree.root.state).toEqual({ log: ['after', 'moved'] });
  });
});
