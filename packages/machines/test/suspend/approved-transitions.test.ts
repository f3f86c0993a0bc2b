import { tool } from '@lastcall/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  cede,
  charter,
  createMachine,
  deserializeMachine,
  type Machine,
  type MachineStep,
  node,
  serializeMachine,
  spawn,
  to,
} from '../../src/index.ts';
import { outcomes, reasons, run, systemOf } from '../kit.ts';

const decisions = { to: () => to('other'), spawn: () => spawn('other'), cede: () => cede('done') };
const transitions = Object.fromEntries(
  Object.entries(decisions).map(([name, handler]) => [name, { description: 'Needs leave.', approval: true, handler }]),
);
const start = node({
  instructions: 'Start.',
  transitions: { ...transitions, hire: () => spawn('worker'), talk: () => spawn('talker') },
});
const talker = node({ instructions: 'Talker.', transitions });
const worker = node({ instructions: 'Worker.', worker: true, transitions });
const other = node({ instructions: 'Other.' });
const answer = tool({
  description: 'Answers.',
  inputSchema: z.object({}),
  terminal: true,
  execute: () => 'the answer',
});
const made = charter({ nodes: { start, talker, worker, other }, tools: { answer } });

/** The transitions before, and the instance that asks for approval. */
const cases: Record<string, readonly [kind: string, before: readonly string[], node: string]> = {
  'to, of the root': ['to', [], 'other'],
  'spawn, of the root': ['spawn', [], 'start'],
  'to, of a child': ['to', ['talk'], 'other'],
  'spawn, of a child': ['spawn', ['talk'], 'talker'],
  'cede, of a child': ['cede', ['talk'], 'gone'],
};
for (const [what, [kind, before, node]] of Object.entries(cases)) {
  for (const stored of [false, true]) {
    test(`[M25] an approved transition settles once: ${what}${stored ? ', stored meanwhile' : ''}`, async () => {
      const waiting = await ask(before, kind);
      const machine = stored ? deserializeMachine(made, JSON.stringify(serializeMachine(waiting))) : waiting;
      const [{ id = '', instanceId = '' } = {}] = machine.suspended;
      machine.resume(id, true);
      const { steps } = await run(machine, ['Hello.']);
      expect(endsOf(steps, kind)).toEqual(['ok']);
      expect(reasons(steps)).toEqual([kind === 'cede' ? 'cede' : 'transition', 'end_turn']);
      expect(machine.instance(instanceId)?.node ?? 'gone').toBe(node);
      expect(machine.suspended).toEqual([]);
    });
  }
}

for (const kind of Object.keys(decisions)) {
  test(`[M25] an approved transition of a worker settles once: ${kind}`, async () => {
    const machine = await ask(['hire'], kind);
    machine.resume(machine.suspended[0]?.id ?? '', true);
    const { steps } = await run(machine, ['It is done.', 'So it is.', 'Yes.']);
    expect(endsOf(steps, kind)).toEqual(['ok']);
    expect(steps.at(-1)).toMatchObject({ yieldReason: 'end_turn', done: true });
    expect(machine.tree.root.children).toEqual([]);
  });
}

test('[M25] a denied transition settles once, and the tree is unchanged', async () => {
  const machine = await ask([], 'to');
  machine.resume(machine.suspended[0]?.id ?? '', { deny: 'not today' });
  const { steps } = await run(machine, ['Then not.']);
  expect(endsOf(steps, 'to')).toEqual(['error']);
  expect(machine.tree.root.node).toBe('start');
});

for (const second of ['transition_talk', 'transition_cede']) {
  test(`[M5] a transition that waits for approval counts as the first: ${second} after it is an error`, async () => {
    const machine = createMachine(made, { root: 'start' });
    const { steps } = await run(machine, [[{ toolName: 'transition_to' }, { toolName: second }]], { input: 'Go.' });
    expect(steps[0]?.settlements).toMatchObject([
      { toolName: second, outcome: { status: 'error', code: 'transition_already_called' } },
    ]);
    expect(machine.suspended).toMatchObject([{ toolName: 'transition_to' }]);
    machine.resume(machine.suspended[0]?.id ?? '', true);
    const { steps: later } = await run(machine, ['Hello.']);
    expect(reasons(later)).toEqual(['transition', 'end_turn']);
    expect(machine.tree.root).toMatchObject({ node: 'other', children: [] });
  });
}

for (const stored of [false, true]) {
  test(`[M2] [M25] a transition approved beside a terminal tool counts before the model is asked again${stored ? ', stored meanwhile' : ''}`, async () => {
    const first = createMachine(made, { root: 'start' });
    const batch = [{ toolName: 'answer' }, { toolName: 'transition_cede' }];
    const { steps: before } = await run(first, [{ toolName: 'transition_talk' }, batch], { input: 'Go.' });
    expect(reasons(before)).toEqual(['transition', 'suspend', 'awaiting_resume']);
    const machine = stored ? deserializeMachine(made, JSON.stringify(serializeMachine(first))) : first;
    machine.resume(machine.suspended[0]?.id ?? '', true);
    const { steps, requests } = await run(machine, ['Hello.']);
    expect(reasons(steps)).toEqual(['cede', 'end_turn']);
    expect(requests.map(systemOf)).toEqual([expect.stringContaining('Start.')]);
    expect(machine.tree.root.children).toEqual([]);
  });
}

test('[M2] [M25] if a transition beside a terminal tool is denied, the terminal tool gives the response', async () => {
  const machine = createMachine(made, { root: 'start' });
  await run(machine, [[{ toolName: 'answer' }, { toolName: 'transition_to' }]], { input: 'Go.' });
  machine.resume(machine.suspended[0]?.id ?? '', { deny: 'no' });
  const { steps } = await run(machine, []);
  expect(steps.at(-1)).toMatchObject({ yieldReason: 'end_turn', response: 'the answer', done: true });
  expect(machine.tree.root.node).toBe('start');
});

async function ask(before: readonly string[], kind: string): Promise<Machine> {
  const machine = createMachine(made, { root: 'start' });
  const script = [...before, kind].map((name) => ({ toolName: `transition_${name}` }));
  const { steps } = await run(machine, script, { input: 'Go.' });
  expect(reasons(steps).slice(-2)).toEqual(['suspend', 'awaiting_resume']);
  return machine;
}

function endsOf(steps: readonly MachineStep[], kind: string): (string | undefined)[] {
  return outcomes(steps)
    .filter(([name]) => name === `transition_${kind}`)
    .map(([, status]) => status);
}
