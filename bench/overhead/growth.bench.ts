import { median } from '../measure.ts';
import type { Report } from '../report.ts';
import { type Contender, runChecked } from './contender.ts';
import { contenders } from './contenders.ts';

const STEPS = [20, 200, 2_000] as const;
// A run that would probably take longer is not started, because nothing could stop it.
const MOST_MS = 20_000;
const ROUNDS = 5;
const ROUNDS_MS = 4_000;

/** How the cost of a step grows with the number of steps before it. */
export async function benchGrowth(): Promise<Report> {
  const rows: (string | number)[][] = [];
  for (const contender of await contenders()) rows.push(await measureGrowth(contender));
  return {
    title: 'What a step costs in a long turn',
    claim:
      'The same work with more steps. Claim: the cost of a step of ours does not grow with the steps before it, except for ' +
      'the list of messages that is sent to the model.',
    columns: ['', 'package', ...STEPS.map((steps) => `${steps.toLocaleString('en')} steps, µs per step`)],
    rows,
  };
}

async function measureGrowth(contender: Contender): Promise<(string | number)[]> {
  const perStep: number[] = [];
  for (const steps of STEPS) {
    if (foreseenMs(perStep, steps) > MOST_MS) break;
    perStep.push((await medianMs(contender, steps)) / steps);
  }
  const cells = STEPS.map((_, index) => {
    const ms = perStep[index];
    return ms === undefined ? `over ${MOST_MS / 1_000} s foreseen` : ms * 1_000;
  });
  return [contender.name, contender.of, ...cells];
}

/** The duration of a run if the cost of a step keeps growing as it did so far. */
function foreseenMs(perStep: readonly number[], steps: number): number {
  const [last = 0, before = last] = perStep.toReversed();
  return steps * last * Math.max(1, last / before);
}

/** The shortest work is run more often, so that its median is that of compiled code. */
async function medianMs(contender: Contender, steps: number): Promise<number> {
  const all: number[] = [];
  let total = 0;
  while (all.length < (steps === STEPS[0] ? 20 * ROUNDS : ROUNDS) && total < ROUNDS_MS) {
    const start = performance.now();
    await runChecked(contender, steps);
    all.push(performance.now() - start);
    total += all.at(-1) ?? 0;
  }
  return median(all);
}
