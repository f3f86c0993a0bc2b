import { expect, test } from 'vitest';
import { seed as seedOfTheDay } from '../chaos/seed.ts';
import type { FaultKind } from './faults.ts';
import { FIXED_WORLDS, NEW_WORLDS } from './how-many.ts';
import { runSimulation } from './run-simulation.ts';

const KINDS: Readonly<Record<FaultKind, true>> = {
  die: true,
  stall: true,
  'jump-clock': true,
  refuse: true,
  'undo-commit': true,
  'lose-answer': true,
  outage: true,
  'lose-notice': true,
  'double-notice': true,
  'delay-notice': true,
  'lose-wake': true,
  disconnect: true,
  repeat: true,
  'read-slowly': true,
  'model-slow': true,
  'model-fails': true,
  'model-breaks-off': true,
  'tool-hangs': true,
  'tool-throws': true,
  'tool-acts-and-fails': true,
};

const CONTENTS = [
  ...['spaces', 'approvals', 'answers', 'plans', 'conversations', 'machines', 'sub-agents', 'sessions', 'files'],
  ...['compaction', 'deletion', 'projects', 'spend limits', 'grants'],
];

test('[Z2] [Z3] [Z4] [Z6] the fixed worlds keep every promise, have all that an agent can have, and faults of every kind', async () => {
  const { text } = await runSimulation('--from', '1', '--seeds', String(FIXED_WORLDS));
  expect(text).toContain('Every promise was kept.');
  const [, counted = ''] = /^Faults: (.*)\.$/m.exec(text) ?? [];
  const happened = counted.split(', ').map((one) => one.split(' ')[0]);
  expect(happened.toSorted()).toEqual(Object.keys(KINDS).toSorted());
  const [, had = ''] = /^Worlds had: (.*)\.$/m.exec(text) ?? [];
  const counts = new Map(had.split(', ').map((one) => [one.replace(/ \d+$/, ''), Number(/\d+$/.exec(one)?.[0])]));
  for (const name of CONTENTS) expect([name, (counts.get(name) ?? 0) > 0]).toEqual([name, true]);
});

test('[Z6] worlds that are new each day, whose seeds are printed, keep every promise', async () => {
  const from = 1_000_000 + seedOfTheDay * 1_000;
  process.stdout.write(`New worlds: npm run simulate -- --from ${from} --seeds ${NEW_WORLDS}\n`);
  const { text } = await runSimulation('--from', String(from), '--seeds', String(NEW_WORLDS));
  expect(text).toContain('Every promise was kept.');
});
