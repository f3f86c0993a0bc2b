import { type Held, isHeld, short } from './held.ts';
import type { Report } from './report.ts';

/** How often everything is run before something is claimed. */
export const RUNS = 3;

/** A ratio in each of several runs. */
export interface Claim {
  readonly title: string;
  /** The run with the worst ratio. */
  readonly worst: Held;
  readonly ratios: readonly number[];
}

/**
 * What may be claimed: of each ratio the worst of all runs. A figure with a unit depends on the machine, and is not claimed. Neither is
 * what was not measured in every run.
 */
export function claimsOf(runs: readonly (readonly Report[])[]): readonly Claim[] {
  if (runs.length < RUNS) throw new Error(`A claim needs ${RUNS} runs. There were ${runs.length}.`);
  const all = runs.map((reports) => new Map(reports.flatMap(ratiosOf)));
  return [...(all[0] ?? new Map<string, Ratio>()).keys()].flatMap((key) => {
    const measured = all.flatMap((run) => run.get(key) ?? []);
    return measured.length === runs.length ? [worstOf(measured)] : [];
  });
}

interface Ratio {
  readonly title: string;
  readonly held: Held;
}

function ratiosOf({ title, findings = [] }: Report): readonly (readonly [string, Ratio])[] {
  const ratios = findings.filter((finding) => typeof finding !== 'string' && finding.unit === '') as Held[];
  return ratios.map((held) => [`${title}\n${held.what}`, { title, held }]);
}

function worstOf(measured: readonly Ratio[]): Claim {
  const sorted = measured.toSorted(({ held: one }, { held: other }) =>
    one.is === 'at most' ? other.figure - one.figure : one.figure - other.figure,
  );
  const [{ title, held: worst }] = sorted as [Ratio];
  return { title, worst, ratios: measured.map(({ held }) => held.figure) };
}

export interface ClaimsPage {
  readonly claims: readonly Claim[];
  readonly command: string;
  readonly madeOn: string;
}

/** `docs/claims.md`: nothing on it is written by hand. */
export function toPage({ claims, command, madeOn }: ClaimsPage): string {
  const lines = claims.map(({ title, worst, ratios }) => {
    const cells = [title, worst.what, short(worst.figure), `${worst.is} ${short(worst.limit)}`];
    return `| ${[...cells, isHeld(worst) ? 'held' : 'missed', ratios.map(short).join(', ')].join(' | ')} |`;
  });
  return [
    '# Claims about speed',
    '',
    `\`${command}\` ran everything ${RUNS} times and wrote this page. Each figure is a ratio of two figures of one run, measured in turns on one machine, and the worst of the ${RUNS} runs. Another machine gives other ratios.`,
    '',
    madeOn,
    '',
    '| benchmark | ratio | worst | limit |  | in each run |',
    '| --- | --- | --- | --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
}
