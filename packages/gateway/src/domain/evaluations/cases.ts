import { type Kysely, sql } from 'kysely';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { EvaluationCaseRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError, notFound } from '../api-error.ts';
import { asPlainText, isId, plainText } from '../entities/column-text.ts';
import { invalid } from '../entities/invalid.ts';
import { type Page, type PageOptions, pageLimit, textCursor } from '../entities/page.ts';
import { newId } from '../new-id.ts';
import { lockEvaluation } from './evaluation.ts';
import { lockRuns } from './kept-runs.ts';
import { fitting } from './page-bytes.ts';
import { taskOf } from './task.ts';

/** A recorded run as a task with its expected answer. */
export interface EvaluationCase {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly expected: string;
  /** The run with the recorded outcomes. It is kept as long as the case. */
  readonly runId: string;
  readonly createdAt: number;
}

export interface NewCase {
  readonly runId: string;
  /** Default: the first words of what was asked. */
  readonly name?: string | undefined;
  /** Default: the response of the run. */
  readonly expected?: string | undefined;
}

const MOST_CASES = 10_000;
const NAME_LENGTH = 60;

/** Makes a case of a run. A run that is a case of this evaluation already gets the new name and the new expected answer. */
export async function addCase(tx: Tx, evaluationId: string, given: NewCase): Promise<EvaluationCase> {
  // The run is not deleted before the commit. Threads are locked first, as when a conversation is deleted.
  const kept = await lockRuns(tx, [given.runId]);
  // Two cases that are added at the same time get different names.
  const { project_id: project } = await lockEvaluation(tx, evaluationId, 'change');
  // For the caller, a run of another project does not exist.
  if (kept.get(given.runId) !== project) throw notFound('run', given.runId);
  const task = await taskOf(tx.db, given.runId);
  if (task.status === 'running' || task.status === 'queued') throw invalid('runId', 'must be a run that has ended.');
  if (given.expected === undefined && task.response === undefined)
    throw invalid('expected', 'is missing: the run has no response that could be expected.');
  const before = await casesOfRun(tx.db, evaluationId, given.runId);
  const name = given.name === undefined ? firstWords(task.input) : plainText(given.name, 'name', { min: 1, max: 200 });
  const row: EvaluationCaseRow = {
    id: before?.id ?? newId(tx.now()),
    evaluation_id: evaluationId,
    name:
      before !== undefined && given.name === undefined ? before.name : await freeName(tx, evaluationId, name, before),
    input: toJson(task.input),
    expected: toJson(given.expected ?? task.response),
    run_id: given.runId,
    created_at: before?.created_at ?? tx.now(),
  };
  if (before === undefined) await assertRoom(tx, evaluationId);
  await tx.db
    .insertInto('evaluation_cases')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['evaluation_id', 'run_id']).doUpdateSet({ name: row.name, expected: row.expected }),
    )
    .execute();
  return toCase(row);
}

async function casesOfRun(
  db: Kysely<Tables>,
  evaluationId: string,
  runId: string,
): Promise<EvaluationCaseRow | undefined> {
  const query = db.selectFrom('evaluation_cases').selectAll().where('evaluation_id', '=', evaluationId);
  return await query.where('run_id', '=', runId).executeTakeFirst();
}

function firstWords(input: string): string {
  const line = asPlainText(input.replaceAll(/\s+/g, ' ').trim(), NAME_LENGTH + 1);
  if (line === '') return 'case';
  return line.length <= NAME_LENGTH ? line : `${line.slice(0, NAME_LENGTH).toWellFormed()}…`;
}

/** Reports know cases by their names, so each has its own. */
async function freeName(
  { db }: Tx,
  evaluationId: string,
  wanted: string,
  own: EvaluationCaseRow | undefined,
): Promise<string> {
  const rows = await db
    .selectFrom('evaluation_cases')
    .select('name')
    .where('evaluation_id', '=', evaluationId)
    .where('id', '!=', own?.id ?? '')
    .execute();
  const taken = new Set(rows.map(({ name }) => name));
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number++) if (!taken.has(`${wanted} (${number})`)) return `${wanted} (${number})`;
}

async function assertRoom({ db }: Tx, evaluationId: string): Promise<void> {
  const { count } = await db
    .selectFrom('evaluation_cases')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('evaluation_id', '=', evaluationId)
    .executeTakeFirstOrThrow();
  if (Number(count) >= MOST_CASES) throw new ApiError('too_large', `An evaluation has at most ${MOST_CASES} cases.`);
}

/** Lists cases, oldest first, as many as fit into one page with their texts. */
export async function listCases(
  db: Kysely<Tables>,
  evaluationId: string,
  page: PageOptions,
): Promise<Page<EvaluationCase>> {
  const limit = pageLimit(page.limit);
  const after = textCursor(page.cursor);
  const cases = db.selectFrom('evaluation_cases').where('evaluation_id', '=', evaluationId).orderBy('id');
  const from = after === undefined ? cases : cases.where('id', '>', after);
  const bytes = sql<number>`octet_length(name) + octet_length(input) + octet_length(expected)`.as('bytes');
  const sizes = await from
    .select(['id', bytes])
    .limit(limit + 1)
    .execute();
  const shown = fitting(sizes.slice(0, limit), (row) => Number(row.bytes)).map(({ id }) => id);
  const rows = shown.length === 0 ? [] : await cases.selectAll().where('id', 'in', shown).execute();
  const items = rows.map(toCase);
  const last = shown.at(-1);
  return sizes.length > shown.length && last !== undefined ? { items, next: last } : { items };
}

export async function deleteCase(tx: Tx, evaluationId: string, id: string): Promise<{ readonly id: string }> {
  const row = tx.db.deleteFrom('evaluation_cases').where('evaluation_id', '=', evaluationId);
  const deleted = isId(id) ? await row.where('id', '=', id).returning('id').executeTakeFirst() : undefined;
  if (deleted === undefined) throw notFound('case', id);
  return { id };
}

function toCase({ id, name, input, expected, run_id, created_at }: EvaluationCaseRow): EvaluationCase {
  return { id, name, input: fromJson(input), expected: fromJson(expected), runId: run_id, createdAt: created_at };
}
