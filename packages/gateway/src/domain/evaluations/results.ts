import { compareReports, type Difference, type ScoredSample } from '@lastcall/core/eval';
import { type Kysely, sql } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { EvaluationReportRow, EvaluationSampleRow, Tables } from '../../ports/store/schema/tables.ts';
import { numberCursor, type Page, type PageOptions, pageLimit } from '../entities/page.ts';
import { overallValue, toScored } from './case-values.ts';
import { getEvaluation, type ListedEvaluation, newestReports, withCounts } from './evaluation.ts';
import { fitting } from './page-bytes.ts';
import { type Report, toReport } from './report.ts';
import type { SampleDetails } from './store-report.ts';

/** How many versions are shown beside each other. */
const MOST_SHOWN = 8;
/** How many samples of a case are shown in each version. */
const MOST_OF_A_CASE = 100;

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
  const versions: ComparedReport[] = [];
  // Two reports at a time: each may have 10,000 samples.
  let own = rows.length > 1 ? await scoredReport(db, rows[0] as EvaluationReportRow) : undefined;
  for (const [at, row] of rows.slice(0, MOST_SHOWN).entries()) {
    const earlier = rows[at + 1];
    const before = earlier && (await scoredReport(db, earlier));
    versions.push({ ...toReport(row), ...(before && own && { change: changeBetween(before, own) }) });
    own = before;
  }
  return { ...(evaluation as ListedEvaluation), versions };
}

interface ScoredReport extends Pick<Report, 'scores'> {
  readonly samples: readonly ScoredSample[];
}

function changeBetween(before: ScoredReport, after: ScoredReport): Readonly<Record<string, Difference>> {
  const { scores, cases } = compareReports(before, after);
  return cases.shared === 0 ? {} : scores;
}

async function scoredReport(db: Kysely<Tables>, row: EvaluationReportRow): Promise<ScoredReport> {
  const samples = await db
    .selectFrom('evaluation_samples')
    .select(['case_name', 'scores'])
    .where('report_id', '=', row.id)
    .orderBy('number')
    .execute();
  return { scores: toReport(row).scores, samples: samples.map(toScored) };
}

/** The values of the cases of a report, by their names. */
type ByCase = ReadonlyMap<string, number>;

async function valuesOf(db: Kysely<Tables>, row: EvaluationReportRow): Promise<ByCase> {
  const { samples } = await scoredReport(db, row);
  const byCase = Map.groupBy(samples, (sample) => sample.case);
  return new Map([...byCase].map(([name, own]) => [name, overallValue(own)]));
}

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
  const cases = new Map<string, ByCase>();
  for (const report of reports) cases.set(report.id, await valuesOf(db, report));
  const names = worstFirst([...cases.values()]);
  const shown = await fittingCases(db, reports, names.slice(from, from + limit));
  const samples = await samplesOf(db, reports, shown);
  const items = shown.map((name) => ({
    case: name,
    cells: reports.flatMap(({ id }) => {
      const own = samples.get(`${id} ${name}`);
      const value = cases.get(id)?.get(name);
      return own === undefined || value === undefined ? [] : [{ reportId: id, value, samples: own.map(toSample) }];
    }),
  }));
  const next = from + shown.length;
  return names.length > next ? { items, next: String(next) } : { items };
}

function worstFirst(reports: readonly ByCase[]): readonly string[] {
  const places = new Map<string, { readonly report: number; readonly value: number }>();
  for (const [report, cases] of reports.entries())
    for (const [name, value] of cases) if (!places.has(name)) places.set(name, { report, value });
  return [...places]
    .toSorted(
      ([oneName, one], [otherName, other]) =>
        one.report - other.report || one.value - other.value || (oneName < otherName ? -1 : 1),
    )
    .map(([name]) => name);
}

/** The first of the cases, as many as fit into one page with their texts, and at least one. */
async function fittingCases(
  db: Kysely<Tables>,
  reports: readonly EvaluationReportRow[],
  names: readonly string[],
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const sizes = await db
    .selectFrom(shownSamples(db, reports, names).as('shown'))
    .select(['case_name', sql<number>`sum(octet_length(details))`.as('bytes')])
    .groupBy('case_name')
    .execute();
  const bytesOf = new Map(sizes.map(({ case_name, bytes }) => [case_name, Number(bytes ?? 0)]));
  return fitting(names, (name) => bytesOf.get(name) ?? 0);
}

async function samplesOf(
  db: Kysely<Tables>,
  reports: readonly EvaluationReportRow[],
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly EvaluationSampleRow[]>> {
  if (names.length === 0) return new Map();
  const shown = db.selectFrom(shownSamples(db, reports, names).as('shown')).selectAll();
  const rows = await shown.orderBy('report_id').orderBy('number').execute();
  return Map.groupBy(rows, ({ report_id, case_name }) => `${report_id} ${case_name}`);
}

/** The first samples of each of the cases in each of the reports. */
function shownSamples(db: Kysely<Tables>, reports: readonly EvaluationReportRow[], names: readonly string[]) {
  const place = sql<number>`row_number() over (partition by report_id, case_name order by number)`;
  const ids = reports.map(({ id }) => id);
  const numbered = db.selectFrom('evaluation_samples').selectAll().select(place.as('place'));
  return db
    .selectFrom(numbered.where('report_id', 'in', ids).where('case_name', 'in', names).as('numbered'))
    .selectAll()
    .where('place', '<=', MOST_OF_A_CASE);
}

function toSample({ sample, scores, ms, tokens, cost, run_id, details }: EvaluationSampleRow): ShownSample {
  const { response, error, calls, reasons = {} }: SampleDetails = details === null ? {} : fromJson(details);
  const values = Object.entries(fromJson<Record<string, number>>(scores));
  return {
    sample,
    scores: Object.fromEntries(
      values.map(([name, value]) => {
        const reason = Object.hasOwn(reasons, name) ? reasons[name] : undefined;
        return [name, reason === undefined ? { value } : { value, reason }];
      }),
    ),
    ...{ response, calls, error, ms },
    ...(tokens === null ? {} : { tokens }),
    ...(cost === null ? {} : { cost }),
    ...(run_id === null ? {} : { runId: run_id }),
  };
}
