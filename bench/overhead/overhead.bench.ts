import { heldAtMost } from '../held.ts';
import { microsecondsSideBySide } from '../measure.ts';
import type { Report } from '../report.ts';
import { type Contender, runChecked } from './contender.ts';
import { contenders } from './contenders.ts';

const STEPS = 20;
const ROUNDS = 15;
const ROUND_MS = 60;

/** What a step costs where model and tool cost nothing: 20 tool steps, then a text, no tracing. */
export async function benchOverhead(): Promise<Report> {
  const all = await contenders();
  const runs = all.map((contender) => () => runChecked(contender, STEPS));
  const perRun = await microsecondsSideBySide(runs, { rounds: ROUNDS, roundMs: ROUND_MS });
  const perStep = perRun.map((us) => us / STEPS);
  const costOf = (name: string): number => perStep[all.findIndex((one) => one.name === name)] ?? Number.NaN;
  const ours = costOf('`runTurn`');
  return {
    title: 'What a step costs',
    claim:
      'A model that answers at once, one trivial tool, 20 tool steps, then a text. Each library uses a model made for ' +
      'its interface, as cheap as the interface allows; rounds in turns. Claim: `runTurn` costs at most 1/10 of ' +
      '`generateText` and 6 times a bare loop, `streamTurn` at most 1/20 of `streamText`.',
    columns: ['', 'package', 'µs per step', 'against `runTurn`'],
    rows: all.map((one: Contender, index) => {
      const cost = perStep[index] ?? Number.NaN;
      return [one.name, one.of, cost, `× ${(cost / ours).toPrecision(3)}`];
    }),
    findings: [
      heldAtMost('`runTurn` / `generateText`', ours / costOf('`generateText`'), 1 / 10),
      heldAtMost('`runTurn` / a bare loop', ours / costOf('a bare loop'), 6),
      heldAtMost('`streamTurn` / `streamText`', costOf('`streamTurn`') / costOf('`streamText`'), 1 / 20),
    ],
  };
}
