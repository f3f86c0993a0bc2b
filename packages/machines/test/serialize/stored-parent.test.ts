import { expect, test } from 'vitest';
import { charter, createMachine, deserializeMachine, node, serializeMachine, spawn, to } from '../../src/index.ts';
import { reasons, run } from '../kit.ts';

const worker = node({ instructions: 'Worker.', worker: true });
const lead = node({
  instructions: 'Lead.',
  transitions: { again: () => to('lead') },
  commands: { crew: () => spawn(['worker', 'worker']) },
});
const made = charter({ nodes: { lead, worker } });

test('[M26] an instance that was stored in the middle of its turn and became a parent ends its turn before its children act', async () => {
  const machine = createMachine(made, { root: 'lead' });
  let stored = '';
  const store = () => {
    stored = JSON.stringify(serializeMachine(machine));
    return 'Too late.';
  };
  await run(machine, [store], { input: 'Go.' });
  const restored = deserializeMachine(made, stored);
  await restored.command('crew');
  const { steps } = await run(restored, [{ toolName: 'transition_again' }, 'Hello.']);
  expect(reasons(steps)).toEqual(['transition', 'end_turn']);
  expect(steps.map(({ leaves }) => leaves.map(({ instanceId }) => instanceId))).toEqual([['root'], ['root']]);
  expect(restored.tree.root.children).toEqual([]);
});
