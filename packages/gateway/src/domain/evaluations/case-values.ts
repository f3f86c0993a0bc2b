import type { ScoredSample } from '@lastcall/core/eval';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { EvaluationSampleRow } from '../../ports/store/schema/tables.ts';

/** The values of a stored sample, by the names of the scores. A sample that failed has none. */
export function toScored({ case_name, scores }: Pick<EvaluationSampleRow, 'case_name' | 'scores'>): ScoredSample {
  const values = Object.entries(fromJson<Readonly<Record<string, number>>>(scores));
  return { case: case_name, scores: Object.fromEntries(values.map(([name, value]) => [name, { value }])) };
}

/** The mean of all scores of all samples of a case: the worst cases are listed first by it. */
export function overallValue(samples: readonly ScoredSample[]): number {
  return mean(samples.map(({ scores }) => mean(Object.values(scores).map(({ value }) => value))));
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
