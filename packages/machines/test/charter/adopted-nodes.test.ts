import { tool } from '@lastcall/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { charter, createMachine, node, to } from '../../src/index.ts';
import { outcomes, run } from '../kit.ts';

const noop = tool({ description: 'Does nothing.', inputSchema: z.object({}), execute: () => 'ok' });
const go = { toolName: 'transition_go' };

test('nodes that a handler makes are named after their transition, with a number', async () => {
  const start = node({
    instructions: 'Start.',
    transitions: { go: () => to(node({ instructions: 'Made.', transitions: { back: 'start' } })) },
  });
  const made = charter({ nodes: { start } });
  for (let count = 0; count < 3; count++)
    await run(createMachine(made, { root: 'start' }), [go, 'Hi.'], { input: 'Go.' });
  expect(made.nodeNames).toEqual(['start', 'start.go', 'start.go.2', 'start.go.3']);
});

test('[M6] a made node that cannot work is an error result, and neither its name nor those inside it stay reserved', async () => {
  const inner = node({ name: 'inner', instructions: 'Inner.' });
  let broken = true;
  const start = node({
    instructions: 'Start.',
    transitions: {
      go: () =>
        to(node({ name: 'made', instructions: 'Made.', transitions: { inner, bad: broken ? 'nowhere' : 'start' } })),
    },
  });
  const made = charter({ nodes: { start } });
  const machine = createMachine(made, { root: 'start' });
  const { steps } = await run(machine, [go, 'Hi.'], { input: 'Go.' });
  expect(outcomes(steps)[0]?.[2]).toContain('there is no node "nowhere"');
  expect(made.nodeNames).toEqual(['start']);
  broken = false;
  await run(machine, [go, 'Hi.'], { input: 'Go.' });
  expect(made.nodeNames).toEqual(['start', 'made', 'inner']);
});

test('[M11] a made node with a reserved tool name is refused when the transition is taken', async () => {
  const start = node({
    instructions: 'Start.',
    transitions: { go: () => to(node({ instructions: 'Made.', tools: { cede: noop } })) },
  });
  const machine = createMachine(charter({ nodes: { start } }), { root: 'start' });
  const { steps } = await run(machine, [go, 'Hi.'], { input: 'Go.' });
  expect(outcomes(steps)[0]).toMatchObject(['transition_go', 'error', expect.stringContaining('built-in tool')]);
  expect(machine.tree.root.node).toBe('start');
});
