import { type Kysely, sql } from 'kysely';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import type { EvaluationReportRow, EvaluationRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { notFound } from '../api-error.ts';
import { isId, plainText } from '../entities/column-text.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import { newId } from '../new-id.ts';
import { lockProject } from '../projects/project.ts';
import { inView, projectOf, type View } from '../projects/view.ts';
import { type Report, toReport } from './report.ts';

/** Cases and reports that belong together. */
export interface Evaluation {
  readonly id: string;
  readonly project?: string;
  readonly name: string;
  readonly createdAt: number;
}

/** An evaluation in a list. */
export interface ListedEvaluation extends Evaluation {
  /** How many cases are stored. */
  readonly cases: number;
  /** How many reports are stored. */
  readonly reports: number;
  readonly newest?: Report;
}

/** The evaluation with this name in the caller's project. It is created if there is none. */
export async function openEvaluation(tx: Tx, name: string, view: View): Promise<Evaluation> {
  const project = projectOf(view);
  const checked = plainText(name, 'name', { min: 1, max: 200 });
  await lockProject(tx, project);
  await tx.db
    .insertInto('evaluations')
    .values({ id: newId(tx.now()), project_id: project, name: checked, created_at: tx.now() })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
    .execute();
  const row = await tx.db
    .selectFrom('evaluations')
    .selectAll()
    .where('project_id', '=', project)
    .where('name', '=', checked)
    .executeTakeFirstOrThrow();
  return toEvaluation(row);
}

/**
 * Throws 404 if there is none. It is not deleted before the commit. With `change`, other transactions that add cases or reports, or delete
 * the evaluation, wait for the commit.
 */
export async function lockEvaluation(tx: Tx, id: string, purpose: 'share' | 'change'): Promise<EvaluationRow> {
  const row = isId(id) ? tx.db.selectFrom('evaluations').selectAll().where('id', '=', id) : undefined;
  const found = await (purpose === 'share' ? row?.forShare() : row?.forUpdate())?.executeTakeFirst();
  if (found === undefined) throw notFound('evaluation', id);
  return found;
}

export async function getEvaluation(db: Kysely<Tables>, id: string): Promise<Evaluation> {
  const row = isId(id) ? db.selectFrom('evaluations').selectAll().where('id', '=', id) : undefined;
  const found = await row?.executeTakeFirst();
  if (found === undefined) throw notFound('evaluation', id);
  return toEvaluation(found);
}

interface EvaluationFilter extends PageOptions {
  readonly name?: string | undefined;
  readonly view: View;
}

/** Lists evaluations, newest first. */
export async function listEvaluations(db: Kysely<Tables>, filter: EvaluationFilter): Promise<Page<ListedEvaluation>> {
  const limit = pageLimit(filter.limit);
  const before = textCursor(filter.cursor);
  let query = db.selectFrom('evaluations').selectAll().where(inView(filter.view, 'evaluations'));
  if (filter.name !== undefined) query = query.where('name', '=', plainText(filter.name, 'name', { max: 200 }));
  if (before !== undefined) query = query.where('id', '<', before);
  const rows = await query
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const page = toPage(rows, { limit, cursorOf: ({ id }) => id, toItem: toEvaluation });
  return { ...page, items: await withCounts(db, page.items) };
}

/** With their numbers of cases and reports, and the newest report of each, in three queries for all of them. */
export async function withCounts(
  db: Kysely<Tables>,
  evaluations: readonly Evaluation[],
): Promise<readonly ListedEvaluation[]> {
  if (evaluations.length === 0) return [];
  const ids = evaluations.map(({ id }) => id);
  const cases = await countsOf(db, 'evaluation_cases', ids);
  const reports = await countsOf(db, 'evaluation_reports', ids);
  const newest = await newestOfEach(db, ids);
  return evaluations.map((evaluation) => {
    const report = newest.get(evaluation.id);
    return {
      ...evaluation,
      cases: cases.get(evaluation.id) ?? 0,
      reports: reports.get(evaluation.id) ?? 0,
      ...(report === undefined ? {} : { newest: toReport(report) }),
    };
  });
}

async function countsOf(
  db: Kysely<Tables>,
  table: 'evaluation_cases' | 'evaluation_reports',
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom(table)
    .select(({ fn }) => ['evaluation_id', fn.countAll<number>().as('count')])
    .where('evaluation_id', 'in', ids)
    .groupBy('evaluation_id')
    .execute();
  return new Map(rows.map(({ evaluation_id, count }) => [evaluation_id, Number(count)]));
}

async function newestOfEach(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, EvaluationReportRow>> {
  const place = sql<number>`row_number() over (partition by evaluation_id order by created_at desc, id desc)`;
  const rows = await db
    .selectFrom((eb) =>
      eb
        .selectFrom('evaluation_reports')
        .selectAll()
        .select(place.as('place'))
        .where('evaluation_id', 'in', ids)
        .as('reports'),
    )
    .selectAll()
    .where('place', '=', 1)
    .execute();
  return new Map(rows.map((row) => [row.evaluation_id, row]));
}

/** The newest reports, the newest first. */
export async function newestReports(
  db: Kysely<Tables>,
  evaluationId: string,
  limit: number,
): Promise<readonly EvaluationReportRow[]> {
  return await db
    .selectFrom('evaluation_reports')
    .selectAll()
    .where('evaluation_id', '=', evaluationId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Deletes an evaluation with its cases and reports, also those that are being added. */
export async function deleteEvaluation(tx: Tx, id: string): Promise<{ readonly id: string }> {
  await lockEvaluation(tx, id, 'change');
  // Cases come before samples, in the same order as when a conversation is deleted, so that the two never wait for each other.
  await tx.db.deleteFrom('evaluation_cases').where('evaluation_id', '=', id).execute();
  const reports = tx.db.selectFrom('evaluation_reports').select('id').where('evaluation_id', '=', id);
  await tx.db.deleteFrom('evaluation_samples').where('report_id', 'in', reports).execute();
  await tx.db.deleteFrom('evaluation_reports').where('evaluation_id', '=', id).execute();
  await tx.db.deleteFrom('evaluations').where('id', '=', id).execute();
  return { id };
}

function toEvaluation({ id, project_id, name, created_at }: EvaluationRow): Evaluation {
  return { id, ...(project_id === DEFAULT_PROJECT ? {} : { project: project_id }), name, createdAt: created_at };
}
