import { estimateScores } from '@lastcall/core/eval';
import { sql } from 'kysely';
import { toJson } from '../../ports/store/schema/json.ts';
import type { EvaluationSampleRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError, notFound } from '../api-error.ts';
import { asPlainText, isId, plainText } from '../entities/column-text.ts';
import { ERASED } from '../erasure/mark.ts';
import { newId } from '../new-id.ts';
import { idTaken, ownId } from '../own-id.ts';
import { toScored } from './case-values.ts';
import { lockEvaluation } from './evaluation.ts';
import { erasedRuns, lockRuns } from './kept-runs.ts';
import { type Report, toReport } from './report.ts';

/** One run of one case, as it is sent. */
interface NewSample {
  readonly case: string;
  readonly sample: number;
  readonly scores: Readonly<Record<string, { readonly value: number; readonly reason?: string | undefined }>>;
  readonly response?: string | undefined;
  readonly calls?: readonly { readonly toolName: string; readonly status: string }[] | undefined;
  readonly error?: string | undefined;
  readonly ms: number;
  readonly tokens?: number | undefined;
  readonly cost?: number | undefined;
  readonly runId?: string | undefined;
}

export interface NewReport {
  /** Samples with the id of a report that exists are added to it. Default: a new report. */
  readonly id?: string | undefined;
  readonly version: string;
  /** The place of the first sample in the report. Samples that were sent before are replaced. */
  readonly from?: number | undefined;
  readonly samples: readonly NewSample[];
}

/** The texts of a sample. */
export interface SampleDetails {
  readonly response?: string | undefined;
  readonly error?: string | undefined;
  readonly reasons?: Readonly<Record<string, string>>;
  readonly calls?: NewSample['calls'];
}

const MOST_SAMPLES = 10_000;
const MOST_REPORTS = 1_000;
const MOST_SCORES = 20;
const MOST_CALLS = 100;
/** The whole response is on the page of its run. */
const MOST_CHARACTERS = 4_000;
const MOST_OF_A_REASON = 1_000;

/** Stores the results of a version, or more of them. Sent again, they are stored once. */
export async function storeReport(tx: Tx, evaluationId: string, report: NewReport): Promise<Report> {
  const { from = 0, samples } = report;
  const runIds = samples.flatMap(({ runId }) => runId ?? []);
  // Threads are locked first, as when a conversation is deleted.
  const runs = await lockRuns(tx, runIds);
  const evaluation = await lockEvaluation(tx, evaluationId, 'share');
  if (from + samples.length > MOST_SAMPLES)
    throw new ApiError('too_large', `A report has at most ${MOST_SAMPLES} samples.`);
  const id = await openReport(tx, evaluation.id, report);
  const numbers = [from, from + samples.length] as const;
  const old = tx.db.deleteFrom('evaluation_samples').where('report_id', '=', id);
  await old.where('number', '>=', numbers[0]).where('number', '<', numbers[1]).execute();
  const erased = await erasedRuns(tx, [...runs.keys()]);
  const rows = samples.map((sample, index) => {
    const row = toRow(sample, { reportId: id, number: from + index });
    // The same is left as of a report that was stored before the run was deleted, or its texts erased.
    if (row.run_id === null) return row;
    if (runs.get(row.run_id) !== evaluation.project_id) return { ...row, run_id: null, details: null };
    return erased.has(row.run_id) ? { ...row, case_name: ERASED, details: null } : row;
  });
  // SQLite takes at most 32,766 parameters in a statement.
  for (let start = 0; start < rows.length; start += 500)
    await tx.db
      .insertInto('evaluation_samples')
      .values(rows.slice(start, start + 500))
      .execute();
  return await sumUp(tx, id);
}

async function openReport(tx: Tx, evaluationId: string, { id, version }: NewReport): Promise<string> {
  const known = id === undefined ? newId(tx.now()) : ownId(id);
  const count = await tx.db
    .selectFrom('evaluation_reports')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('evaluation_id', '=', evaluationId)
    .where('id', '!=', known)
    .executeTakeFirstOrThrow();
  if (Number(count.count) >= MOST_REPORTS)
    throw new ApiError('too_large', `An evaluation has at most ${MOST_REPORTS} reports. Delete some of them.`);
  await tx.db
    .insertInto('evaluation_reports')
    .values({
      ...{ id: known, evaluation_id: evaluationId, version: plainText(version, 'version', { min: 1, max: 200 }) },
      ...{ scores: '{}', samples: 0, failed: 0, tokens: null, cost: null, created_at: tx.now() },
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  const stored = tx.db.selectFrom('evaluation_reports').select('evaluation_id').where('id', '=', known).forUpdate();
  const found = await stored.executeTakeFirst();
  // It was being deleted when its row was in the way.
  if (found === undefined) throw notFound('report', known);
  if (found.evaluation_id !== evaluationId) throw idTaken(known);
  return known;
}

function toRow(sample: NewSample, place: { reportId: string; number: number }): EvaluationSampleRow {
  const { scores, response, error, calls, ms, tokens, cost, runId } = sample;
  const values = Object.entries(scores).map(([name, { value }]) => [name, value]);
  const reasons = Object.entries(scores).flatMap(([name, { reason }]) =>
    reason === undefined ? [] : [[name, cut(reason, MOST_OF_A_REASON)]],
  );
  const details: SampleDetails = {
    ...{ response: cut(response), error: cut(error), calls: calls?.slice(0, MOST_CALLS) },
    ...(reasons.length === 0 ? {} : { reasons: Object.fromEntries(reasons) }),
  };
  return {
    ...{ report_id: place.reportId, number: place.number },
    ...{ case_name: asPlainText(sample.case, 500), sample: sample.sample },
    ...{ scores: toJson(Object.fromEntries(values)), failed: error === undefined ? 0 : 1, ms: Math.round(ms) },
    ...{ tokens: tokens ?? null, cost: cost ?? null, run_id: runId ?? null, details: toJson(details) },
  };
}

function cut(text: string | undefined, most = MOST_CHARACTERS): string | undefined {
  if (text === undefined || text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()} …`;
}

/** Counts all samples of the report, and estimates its scores. */
async function sumUp(tx: Tx, id: string): Promise<Report> {
  const rows = await tx.db
    .selectFrom('evaluation_samples')
    .select(['case_name', 'scores', 'failed'])
    .where('report_id', '=', id)
    .orderBy('number')
    .execute();
  const scored = rows.map(toScored);
  const names = [...new Set(scored.flatMap(({ scores }) => Object.keys(scores)))];
  // Each is estimated from all samples.
  if (names.length > MOST_SCORES)
    throw new ApiError('too_large', `A report has at most ${MOST_SCORES} different scores, not ${names.length}.`);
  const sums = await tx.db
    .selectFrom('evaluation_samples')
    .select([sql<number | null>`sum(tokens)`.as('tokens'), sql<number | null>`sum(cost)`.as('cost')])
    .where('report_id', '=', id)
    .executeTakeFirstOrThrow();
  const row = await tx.db
    .updateTable('evaluation_reports')
    .set({
      ...{ scores: toJson(estimateScores(scored, names)), samples: rows.length },
      failed: rows.filter(({ failed }) => failed === 1).length,
      ...{ tokens: sums.tokens === null ? null : Number(sums.tokens), cost: sums.cost },
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return toReport(row);
}

export async function deleteReport(tx: Tx, evaluationId: string, id: string): Promise<{ readonly id: string }> {
  const report = tx.db.deleteFrom('evaluation_reports').where('evaluation_id', '=', evaluationId);
  const deleted = isId(id) ? await report.where('id', '=', id).returning('id').executeTakeFirst() : undefined;
  if (deleted === undefined) throw notFound('report', id);
  await tx.db.deleteFrom('evaluation_samples').where('report_id', '=', id).execute();
  return { id };
}
