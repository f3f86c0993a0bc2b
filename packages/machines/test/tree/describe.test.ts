import { expect, test } from 'vitest';
import { charter, createMachine, describeMachine, node, spawn, suspend } from '../../src/index.ts';
import { run } from '../kit.ts';

const worker = node({ instructions: 'w', worker: true });
const desk = node({ instructions: 'd', transitions: { back: 'front "A"' } });
const front = node({
  instructions: 'f',
  transitions: {
    desk,
    hire: { description: 'H.', targets: [worker, 'desk'], handler: () => spawn([worker, desk]) },
    wait: { description: 'W.', handler: () => suspend() },
  },
});
const made = charter({ nodes: { 'front "A"': front, desk, worker }, transitions: { home: 'desk' } });

test('the drawing of a charter has its nodes, workers with double walls, and the known targets of each transition', () => {
  expect(describeMachine(made)).toBe(`flowchart TD
  subgraph charter
    n1["front #quot;A#quot;"]
    n2["desk"]
    n3[["worker"]]
    n1 -->|"desk"| n2
    n1 -->|"hire"| n3
    n1 -->|"hire"| n2
    n1 -.->|"wait"| n1
    n1 -->|"home"| n2
    n2 -->|"back"| n1
    n2 -->|"home"| n2
    n3 -->|"home"| n2
  end
`);
});

test('the drawing of a machine has its instances', async () => {
  const machine = createMachine(made, { root: front });
  await run(machine, [{ toolName: 'transition_hire' }], { input: 'Go.', maxSteps: 1 });
  const drawn = describeMachine(machine);
  expect(drawn.slice(drawn.indexOf('  subgraph instances'))).toBe(`  subgraph instances
    i_root("root: front #quot;A#quot;")
    i_root --- i_root_1
    i_root --- i_root_2
    i_root_1("root.1: worker, worker, ready")
    i_root_2("root.2: desk, primary, ready")
  end
  i_root -.- n1
  i_root_1 -.- n3
  i_root_2 -.- n2
`);
});
