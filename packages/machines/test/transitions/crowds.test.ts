import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import {
  charter,
  createMachine,
  node,
  runMachineToCompletion,
  serializeMachine,
  spawn,
  suspend,
  to,
} from '../../src/index.ts';

const CROWD = 1_000;
const HUGE = 150_000;

const worker = node({ worker: true, instructions: 'Work.', transitions: { ask: () => suspend('leave') } });
const lead = node({
  instructions: 'Lead.',
  transitions: { hire: () => spawn(Array.from({ length: CROWD }, () => 'worker')) },
  commands: {
    fill: () => spawn(Array.from({ length: HUGE }, () => 'worker')),
    clear: () => to('lead'),
  },
});
const make = () => createMachine(charter({ nodes: { lead, worker } }), { root: 'lead' });

test('[M7] the result of a large spawn names the first children, and how many more there are', async () => {
  const { steps } = await runMachineToCompletion(make(), {
    model: scriptedModel([{ toolName: 'transition_hire' }]),
    input: 'Go.',
    maxSteps: 1,
  });
  const { outcome } = steps[0]?.settlements[0] ?? {};
  expect(outcome?.text).toMatch(/^Started "worker" \(root\.1\), .*"worker" \(root\.20\), and 980 more\.$/);
  expect(outcome).toMatchObject({ value: { children: expect.objectContaining({ length: CROWD }) } });
});

test('[M24] the error for a wrong id lists some of the waiting calls, which are then answered one by one', async () => {
  const machine = make();
  const leads = scriptedModel([{ toolName: 'transition_hire' }]);
  const asks = scriptedModel(() => ({ toolName: 'transition_ask' }));
  await runMachineToCompletion(machine, { model: (leaf) => (leaf.worker ? asks : leads), input: 'Go.' });
  expect(machine.suspended).toHaveLength(CROWD);
  expect(() => machine.resume('nobody', 1)).toThrow(/What waits: root\.1:.*, and 980 more\.$/);
  const [first, second, ...rest] = machine.suspended;
  machine.resume(second?.callId ?? '', 1);
  for (const { id } of rest) machine.resume(id, 1);
  expect(machine.suspended).toEqual([first]);
  expect(() => machine.resume(second?.id ?? '', 2)).toThrow('Nothing waits under the id');
  expect(() => machine.resume(`root.1:${second?.callId}`, 2)).toThrow('Nothing waits under the id');
});

test('[M4] a transition removes any number of children, and keeps nothing of those that never began', async () => {
  const machine = make();
  await machine.command('fill');
  expect(machine.tree.root.children).toHaveLength(HUGE);
  await machine.command('clear');
  expect(machine.tree.root.children).toHaveLength(0);
  expect(Object.keys(serializeMachine(machine).threads)).toEqual([]);
});
