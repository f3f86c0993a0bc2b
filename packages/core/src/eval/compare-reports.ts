import type { EvalReport } from './evaluation.ts';
import { type ScoredSample, valuesByCase } from './run-cases.ts';
import { type Difference, difference, meanOf } from './statistics.ts';

export interface ReportComparison {
  /** Of each score that both have. */
  readonly scores: Readonly<Record<string, Difference>>;
  /** Cases that only one of them has are not compared. */
  readonly cases: { readonly shared: number; readonly onlyBefore: number; readonly onlyAfter: number };
}

/** What a comparison needs of a report. */
interface ScoredReport extends Pick<EvalReport, 'scores'> {
  readonly samples: readonly ScoredSample[];
}

/** What changed between two reports of the same cases, and whether that may be chance. */
export function compareReports(before: ScoredReport, after: ScoredReport): ReportComparison {
  const [old, now] = [namesOf(before), namesOf(after)];
  const shared = [...now].filter((name) => old.has(name));
  const scores = Object.keys(after.scores).filter((score) => score in before.scores);
  const changeOf = (score: string): Difference => {
    const [past, present] = [valuesByCase(before.samples, score), valuesByCase(after.samples, score)];
    return difference(shared.map((name) => [meanOf(past.get(name) ?? []), meanOf(present.get(name) ?? [])]));
  };
  return {
    scores: Object.fromEntries(scores.map((score) => [score, changeOf(score)])),
    cases: { shared: shared.length, onlyBefore: old.size - shared.length, onlyAfter: now.size - shared.length },
  };
}

function namesOf({ samples }: ScoredReport): ReadonlySet<string> {
  return new Set(samples.map((sample) => sample.case));
}
