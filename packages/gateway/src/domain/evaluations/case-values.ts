import { fromJson } from '../../ports/store/schema/json.ts';
import type { EvaluationSampleRow } from '../../ports/store/schema/tables.ts';

type ScoredRow = Pick<EvaluationSampleRow, 'case_name' | 'scores' | 'failed'>;

/** The values of the samples of each case, by the names of the scores. A sample that failed has none. */
export type CaseScores = ReadonlyMap<string, readonly Readonly<Record<string, number>>[]>;

/** In the order of the samples. */
export function casesOf(rows: readonly ScoredRow[]): CaseScores {
  const cases = new Map<string, Readonly<Record<string, number>>[]>();
  for (const { case_name, scores } of rows) {
    const known = cases.get(case_name) ?? [];
    known.push(fromJson(scores));
    cases.set(case_name, known);
  }
  return cases;
}

export function scoreNames(rows: readonly ScoredRow[]): readonly string[] {
  return [...new Set(rows.flatMap(({ scores }) => Object.keys(fromJson<object>(scores))))];
}

/**
 * One value for each case: the mean of its samples, because runs of one case are not independent of each other. With one case alone, its
 * samples are all there is. A sample that failed counts as 0.
 */
export function valuesOf(cases: CaseScores, score: string): readonly number[] {
  const [only, ...others] = [...cases.values()];
  if (only !== undefined && others.length === 0) return only.map((one) => one[score] ?? 0);
  return [...cases.values()].map((samples) => caseValue(samples, score));
}

/** The mean of one score over the samples of a case. */
export function caseValue(samples: readonly Readonly<Record<string, number>>[], score: string): number {
  return mean(samples.map((one) => one[score] ?? 0));
}

/** The mean of all scores of all samples: the worst cases are listed first by it. */
export function overallValue(samples: readonly Readonly<Record<string, number>>[]): number {
  return mean(samples.map((one) => mean(Object.values(one))));
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
