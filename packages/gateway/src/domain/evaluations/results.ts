import { compareReports, type Difference, type ScoredSample } from '@lastcall/core/eval';
import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { EvaluationReportRow, EvaluationSampleRow, Tables } from '../../ports/store/schema/tables.ts';
import { numberCursor, type Page, type PageOptions, pageLimit } from '../entities/page.ts';
import { overallValue, toScored } from './case-values.ts';
import { getEvaluation, type ListedEvaluation, newestReports, withCounts } from './evaluation.ts';
import { type Report, toReport } from './report.ts';
import type { SampleDetails } from './store-report.ts';

/** How many versions are shown beside each other. */
const MOST_SHOWN = 8;

/** A report beside the one before it. */
interface ComparedReport extends Report {
  /** Of each score that both have: what changed since the version before, case by case. */
  readonly change?: Readonly<Record<string, Difference>>;
}

export interface EvaluationDetails extends ListedEvaluation {
  /** The newest first. */
  readonly versions: readonly ComparedReport[];
}

/** An evaluation with its newest versions, each compared with the one before. */
export async function getDetails(db: Kysely<Tables>, id: string): Promise<EvaluationDetails> {
  const [evaluation] = await withCounts(db, [await getEvaluation(db, id)]);
  const rows = await newestReports(db, id, MOST_SHOWN + 1);
  const samples = await scoredSamples(db, rows);
  const scoredReport = (row: EvaluationReportRow) => ({
    scores: toReport(row).scores,
    samples: samples.get(row.id) ?? [],
  });
  const versions = rows.slice(0, MOST_SHOWN).map((row, at): ComparedReport => {
    const before = rows[at + 1];
    if (before === undefined) return toReport(row);
    const { scores, cases } = compareReports(scoredReport(before), scoredReport(row));
    return { ...toReport(row), change: cases.shared === 0 ? {} : scores };
  });
  return { ...(evaluation as ListedEvaluation), versions };
}

async function scoredSamples(
  db: Kysely<Tables>,
  reports: readonly EvaluationReportRow[],
): Promise<ReadonlyMap<string, readonly ScoredSample[]>> {
  if (reports.length === 0) return new Map();
  const ids = reports.map(({ id }) => id);
  const rows = await db
    .selectFrom('evaluation_samples')
    .select(['report_id', 'case_name', 'scores'])
    .where('report_id', 'in', ids)
    .orderBy('report_id')
    .orderBy('number')
    .execute();
  const byReport = Map.groupBy(rows, ({ report_id }) => report_id);
  return new Map([...byReport].map(([id, own]) => [id, own.map(toScored)]));
}

/** The samples of each case. */
type ByCase = ReadonlyMap<string, readonly ScoredSample[]>;

/** One run of a case. */
interface ShownSample {
  readonly sample: number;
  readonly scores: Readonly<Record<string, { readonly value: number; readonly reason?: string }>>;
  readonly response?: string | undefined;
  readonly calls?: SampleDetails['calls'];
  readonly error?: string | undefined;
  readonly ms: number;
  readonly tokens?: number;
  readonly cost?: number;
  readonly runId?: string;
}

/** A case in one version. */
interface ResultCell {
  readonly reportId: string;
  /** The mean of all its scores. */
  readonly value: number;
  readonly samples: readonly ShownSample[];
}

/** A case in all versions. */
export interface ResultRow {
  readonly case: string;
  /** One for each version that has the case. */
  readonly cells: readonly ResultCell[];
}

/** The cases, those with the lowest scores in the newest version first. Cases that it does not have are last. */
export async function listResults(
  db: Kysely<Tables>,
  evaluationId: string,
  page: PageOptions,
): Promise<Page<ResultRow>> {
  const limit = pageLimit(page.limit);
  const from = numberCursor(page.cursor) ?? 0;
  await getEvaluation(db, evaluationId);
  const reports = await newestReports(db, evaluationId, MOST_SHOWN);
  const scored = await scoredSamples(db, reports);
  const cases = new Map(reports.map(({ id }) => [id, Map.groupBy(scored.get(id) ?? [], (sample) => sample.case)]));
  const names = worstFirst([...cases.values()]);
  const shown = names.slice(from, from + limit);
  const samples = await samplesOf(db, reports, shown);
  const items = shown.map((name) => ({
    case: name,
    cells: reports.flatMap(({ id }) => {
      const own = samples.get(`${id} ${name}`);
      const values = cases.get(id)?.get(name);
      return own === undefined || values === undefined
        ? []
        : [{ reportId: id, value: overallValue(values), samples: own.map(toSample) }];
    }),
  }));
  return names.length > from + limit ? { items, next: String(from + limit) } : { items };
}

function worstFirst(reports: readonly ByCase[]): readonly string[] {
  const places = new Map<string, { readonly report: number; readonly value: number }>();
  for (const [report, cases] of reports.entries())
    for (const [name, samples] of cases)
      if (!places.has(name)) places.set(name, { report, value: overallValue(samples) });
  return [...places]
    .toSorted(
      ([oneName, one], [otherName, other]) =>
        one.report - other.report || one.value - other.value || (oneName < otherName ? -1 : 1),
    )
    .map(([name]) => name);
}

async function samplesOf(
  db: Kysely<Tables>,
  reports: readonly EvaluationReportRow[],
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly EvaluationSampleRow[]>> {
  if (reports.length === 0 || names.length === 0) return new Map();
  const rows = await db
    .selectFrom('evaluation_samples')
    .selectAll()
    .where(
      'report_id',
      'in',
      reports.map(({ id }) => id),
    )
    .where('case_name', 'in', names)
    .orderBy('report_id')
    .orderBy('number')
    .execute();
  return Map.groupBy(rows, ({ report_id, case_name }) => `${report_id} ${case_name}`);
}

function toSample({ sample, scores, ms, tokens, cost, run_id, details }: EvaluationSampleRow): ShownSample {
  const { response, error, calls, reasons = {} }: SampleDetails = details === null ? {} : fromJson(details);
  const values = Object.entries(fromJson<Record<string, number>>(scores));
  return {
    sample,
    scores: Object.fromEntries(
      values.map(([name, value]) => {
        const reason = reasons[name];
        return [name, reason === undefined ? { value } : { value, reason }];
      }),
    ),
    ...{ response, calls, error, ms },
    ...(tokens === null ? {} : { tokens }),
    ...(cost === null ? {} : { cost }),
    ...(run_id === null ? {} : { runId: run_id }),
  };
}
