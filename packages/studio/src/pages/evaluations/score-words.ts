import type { ComparedReport, EvaluationResult } from '@lastcall/client';
import { wholePercent } from '../../parts/ui/whole-percent.ts';

type Estimate = ComparedReport['scores'][string];
type Difference = NonNullable<ComparedReport['change']>[string];
export type Cell = EvaluationResult['cells'][number];
export type Sample = Cell['samples'][number];

/** 0.833 is "83 %". Only what is whole is "100 %", and only what is nothing is "0 %": one failed case in 300 must be seen. */
export function percent(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : `${wholePercent(value)} %`;
}

/** The interval in which the true value lies with a confidence of 95 %. */
export function intervalInWords({ low, high }: Estimate): string {
  return `${percent(low)} – ${percent(high)}`;
}

/** "+8 %, may be chance (p 0.4)". */
export function changeInWords({ mean, p, verdict }: Difference): string {
  if (verdict === 'same') return 'same';
  const points = Math.round(mean * 100);
  const change = `${points > 0 ? '+' : ''}${points} %`;
  return `${change}, ${verdict}${verdict === 'may be chance' ? ` (p ${p.toFixed(p < 0.1 ? 2 : 1)})` : ''}`;
}

/** What a cell says: the share of the scores that were right, and how many runs failed. */
export function cellInWords({ value, samples }: Cell): string {
  const failed = samples.filter(({ error }) => error !== undefined).length;
  if (failed === samples.length) return 'failed';
  return failed === 0 ? percent(value) : `${percent(value)}, ${failed} failed`;
}

/** The run to look at: the worst of the cell. */
export function worstSample({ samples }: Cell): Sample | undefined {
  return samples.toSorted((one, other) => meanOf(one) - meanOf(other))[0];
}

function meanOf({ scores, error }: Sample): number {
  const values = Object.values(scores).map(({ value }) => value);
  return error !== undefined || values.length === 0
    ? -1
    : values.reduce((sum, value) => sum + value, 0) / values.length;
}
