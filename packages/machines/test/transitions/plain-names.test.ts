import { tool } from '@lastcall/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  charter,
  createMachine,
  deserializeMachine,
  node,
  serializeMachine,
  spawn,
  suspend,
  to,
} from '../../src/index.ts';
import { outcomes, reasons, run, toolNames } from '../kit.ts';

const other = node({ instructions: 'Other.' });
const inputSchema = z.object({});

test('[M6] a transition is found by its plain name too, and advertised once', async () => {
  const first = node({
    instructions: 'First.',
    transitions: { go: { description: 'Go.', handler: () => to('other') } },
  });
  const machine = createMachine(charter({ nodes: { first, other } }), { root: 'first' });
  const { steps, requests } = await run(machine, [{ toolName: 'go' }, 'Hello.'], { input: 'Hi' });
  expect(toolNames(requests[0])).toEqual(['transition_go']);
  expect(reasons(steps)).toEqual(['transition', 'end_turn']);
  expect(outcomes(steps)).toEqual([['go', 'ok', 'Went on to "other".']]);
  expect(machine.tree.root.node).toBe('other');
});

test('[M5] of two transitions in a batch the first counts, after all other calls, by either name', async () => {
  const first = node({
    instructions: 'First.',
    state: z.object({ n: z.number().default(0) }),
    tools: (make) => ({
      add: make({
        description: 'Adds.',
        inputSchema,
        execute: (_input, ctx) => ctx.updateState({ n: ctx.state.n + 1 }),
      }),
    }),
    transitions: { go: (_input, { state }) => to('first', { n: state.n + 10 }) },
  });
  const machine = createMachine(charter({ nodes: { first } }), { root: 'first' });
  const batch = [{ toolName: 'go' }, { toolName: 'transition_go' }, { toolName: 'add' }];
  const { steps } = await run(machine, [batch, 'Hello.'], { input: 'Hi' });
  expect(steps[0]?.settlements.map(({ outcome }) => outcome.status)).toEqual(['ok', 'error', 'ok']);
  expect(machine.tree.root.state).toEqual({ n: 11 });
});

test('[M12] a tool with the same name takes precedence over the plain name of a transition, wherever the tool is defined', async () => {
  const go = tool({ description: 'A tool.', inputSchema, execute: () => 'the tool' });
  const transitions = { go: { description: 'Go.', handler: () => to('other') } };
  const own = node({ instructions: 'Own.', tools: { go }, transitions });
  const heir = node({ instructions: 'Heir.', transitions: { go: 'other', up: () => spawn('below') } });
  const below = node({ instructions: 'Below.', transitions });
  for (const made of [
    createMachine(charter({ nodes: { own, other } }), { root: 'own' }),
    createMachine(charter({ nodes: { heir, below, other }, tools: { go } }), { root: 'heir' }),
  ]) {
    const { steps } = await run(made, [{ toolName: 'go' }, 'Hello.'], { input: 'Hi' });
    expect(outcomes(steps)).toEqual([['go', 'ok', 'the tool']]);
  }
});

test('[M2] [M25] a waiting transition called by its plain name takes precedence over a terminal tool, also when stored', async () => {
  const first = node({
    instructions: 'First.',
    tools: { answer: tool({ description: 'Answers.', inputSchema, terminal: true, execute: () => 'the answer' }) },
    transitions: { sign: () => suspend('a signature') },
  });
  const made = charter({ nodes: { first } });
  const machine = createMachine(made, { root: 'first' });
  const { steps } = await run(machine, [[{ toolName: 'answer' }, { toolName: 'sign' }]], { input: 'Hi' });
  expect(reasons(steps)).toEqual(['suspend', 'awaiting_resume']);
  const restored = deserializeMachine(made, JSON.stringify(serializeMachine(machine)));
  restored.resume(restored.suspended[0]?.id ?? '', 'signed');
  const { steps: later } = await run(restored, ['Done.']);
  expect(later.at(-1)?.response).toBe('Done.');
});
