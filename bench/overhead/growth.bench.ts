import { median } from '../measure.ts';
import type { Report } from '../report.ts';
import { type Contender, runChecked } from './contender.ts';
import { contenders } from './contenders.ts';

const STEPS = [20, 200, 2_000] as const;
// A run that would take longer is not started: its cost is foreseen from the run before.
const MOST_MS = 20_000;
const ROUNDS = 5;

/** How the cost of a step grows with the steps before it. */
export async function benchGrowth(): Promise<Report> {
  const rows: (string | number)[][] = [];
  for (const contender of await contenders()) rows.push(await measureGrowth(contender));
  return {
    title: 'What a step costs in a long turn',
    claim:
      'The same work with more steps. Claim: the cost of a step of ours does not grow with the steps before it, but for ' +
      'the list of messages that the model is handed. A run that takes over 20 s is not repeated, and no longer one is begun.',
    columns: ['', 'package', ...STEPS.map((steps) => `${steps.toLocaleString('en')} steps, µs per step`)],
    rows,
  };
}

async function measureGrowth(contender: Contender): Promise<(string | number)[]> {
  const row: (string | number)[] = [contender.name, contender.of];
  let lastMs = 0;
  for (const steps of STEPS) {
    if (lastMs > MOST_MS) {
      row.push('not begun');
      continue;
    }
    const ms = await medianMs(contender, steps);
    row.push((ms * 1_000) / steps);
    lastMs = ms;
  }
  return row;
}

async function medianMs(contender: Contender, steps: number): Promise<number> {
  const all: number[] = [];
  let total = 0;
  while (all.length < ROUNDS && total < MOST_MS / 2) {
    const start = performance.now();
    await runChecked(contender, steps);
    all.push(performance.now() - start);
    total += all.at(-1) ?? 0;
  }
  return median(all);
}
