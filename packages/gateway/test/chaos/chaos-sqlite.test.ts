import { expect, test } from 'vitest';
import { runChaos } from './chaos.ts';
import { seed, shuffled } from './seed.ts';

test('[G25] [G37] [G38] [G39] [G41] [G42] [G48] one gateway on SQLite survives kills, stops and freezes', {
  timeout: 600_000,
}, async () => {
  const faults = shuffled({ kill: 4, freeze: 1, terminate: 1 });
  const report = await runChaos({ seed, database: { kind: 'sqlite' }, gateways: ['a'], faults });
  expect(report.problems, `SEED=${seed} ${JSON.stringify(report)}`).toEqual([]);
  expect(report.messages).toBeGreaterThan(0);
});
