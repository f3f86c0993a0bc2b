import { expect, test } from 'vitest';
import type { Problem } from './checks.ts';
import { createLedger } from './ledger.ts';
import { runSimulation } from './run-simulation.ts';
import { shrink } from './shrink.ts';
import type { EndedWorld, WorldOptions } from './world.ts';

const IDS = ['a#0', 'b#0', 'b#1', 'c#0', 'd#4'];

/** Fails if `b#1` and `d#4` happen and the action 2 is done. */
async function fake({ onlyFaults, onlyActions }: WorldOptions): Promise<{ world: EndedWorld; problems: Problem[] }> {
  const faults = IDS.filter((id) => onlyFaults?.has(id) !== false);
  const indexes = [0, 1, 2, 3].filter((index) => onlyActions?.has(index) !== false);
  const isBroken = faults.includes('b#1') && faults.includes('d#4') && indexes.includes(2);
  const world = {
    seed: 1,
    log: [],
    faults: faults.map((id) => ({ id, kind: 'die' as const, at: 0 })),
    actions: indexes.map((index) => ({
      kind: 'post' as const,
      at: index,
      ref: `n${index}`,
      agent: 'Anna',
      what: 'answer',
    })),
    ledger: createLedger(),
    database: undefined as never,
    steps: 0,
    virtualMs: 0,
  };
  return { world, problems: isBroken ? [{ check: 'every call settles once', text: 'No.' }] : [] };
}

test('[Z5] a failing world is shrunk to the faults and actions that it fails with', async () => {
  const { world } = await shrink(await fake({ seed: 1 }), fake);
  expect(world.faults.map(({ id }) => id)).toEqual(['b#1', 'd#4']);
  expect(world.actions.map(({ at }) => at)).toEqual([2]);
});

test('[Z5] the story of a failing seed says what was requested, which faults happened and which invariant was broken', async () => {
  const { code, text } = await runSimulation('--plant', 'the sweep does not find lost wakes', '--seeds', '50');
  expect(code).toBe(1);
  expect(text).toMatch(/^Seed \d+ broke \d+ promise\(s\), with \d+ fault\(s\) and \d+ request\(s\):$/m);
  expect(text).toMatch(/ms {2}client: (post|plan|chat) \w+ \w+ \w\d+$/m);
  expect(text).toMatch(/ms {2}!! .*: .+\.$/m);
  expect(text).toMatch(/^Broken:\n {2}.+: .+/m);
  expect(text).toMatch(/npm run simulate -- --seed \d+/);
});
