import type { Estimate } from '@lastcall/core/eval';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { EvaluationReportRow } from '../../ports/store/schema/tables.ts';

/** The results of one version. */
export interface Report {
  readonly id: string;
  readonly version: string;
  /** Of each score: its mean over the cases, and the interval in which the true value lies with a confidence of 95 %. */
  readonly scores: Readonly<Record<string, Estimate>>;
  readonly samples: number;
  readonly failed: number;
  readonly tokens?: number;
  readonly cost?: number;
  readonly createdAt: number;
}

export function toReport(row: EvaluationReportRow): Report {
  return {
    id: row.id,
    version: row.version,
    scores: fromJson(row.scores),
    samples: row.samples,
    failed: row.failed,
    ...(row.tokens === null ? {} : { tokens: row.tokens }),
    ...(row.cost === null ? {} : { cost: row.cost }),
    createdAt: row.created_at,
  };
}
