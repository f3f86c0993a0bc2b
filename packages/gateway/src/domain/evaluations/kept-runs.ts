import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { isId } from '../entities/column-text.ts';
import { ERASED } from '../erasure/mark.ts';

/** True if the run is a case: its recorded outcomes are kept with it. */
export async function isCase(db: Kysely<Tables>, runId: string): Promise<boolean> {
  const row = db.selectFrom('evaluation_cases').select('id').where('run_id', '=', runId);
  return (await row.limit(1).executeTakeFirst()) !== undefined;
}

/** True if a run of the conversation is a case. */
export async function hasCases(db: Kysely<Tables>, threadId: string): Promise<boolean> {
  const row = casesIn(db, threadId).select('evaluation_cases.id');
  return (await row.limit(1).executeTakeFirst()) !== undefined;
}

/** True if the model of a case was shown the rows of the thread before these: they are copied when the case is run. */
export async function isReadByCase(
  db: Kysely<Tables>,
  { threadId, after, before }: { readonly threadId: string; readonly after: number; readonly before: number },
): Promise<boolean> {
  const row = casesIn(db, threadId)
    .innerJoin('transcript_entries', 'transcript_entries.run_id', 'runs.id')
    .select('evaluation_cases.id')
    .where('transcript_entries.seq', '>', after)
    .where('transcript_entries.seq', '<', before);
  return (await row.limit(1).executeTakeFirst()) !== undefined;
}

const casesIn = (db: Kysely<Tables>, threadId: string) =>
  db
    .selectFrom('evaluation_cases')
    .innerJoin('runs', 'runs.id', 'evaluation_cases.run_id')
    .where('runs.thread_id', '=', threadId);

/**
 * The projects of the runs that exist, by the ids of the runs. They are not deleted before the commit: whatever deletes a run, or a
 * conversation, locks its thread.
 */
export async function lockRuns({ db, dialect }: Tx, runIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(runIds.filter(isId))];
  if (ids.length === 0) return new Map();
  const threads = db.selectFrom('runs').select('thread_id').where('id', 'in', ids);
  const locked = db.selectFrom('threads').select('id').where('id', 'in', threads).orderBy('id');
  if (dialect === 'postgres') await locked.forKeyShare().execute();
  // Read under the locks: a run may have been deleted meanwhile.
  const rows = await db
    .selectFrom('runs')
    .innerJoin('threads', 'threads.id', 'runs.thread_id')
    .innerJoin('agents', 'agents.id', 'threads.agent_id')
    .select(['runs.id', 'agents.project_id'])
    .where('runs.id', 'in', ids)
    .execute();
  return new Map(rows.map(({ id, project_id }) => [id, project_id]));
}

/** Those of the runs of which texts were erased after they had begun. */
export async function erasedRuns({ db }: Tx, runIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (runIds.length === 0) return new Set();
  const first = db.selectFrom('runs').select(({ fn }) => fn.min('created_at').as('at'));
  const later = db
    .selectFrom('erasures')
    .select('id')
    .where((eb) => eb.or([eb('done_at', 'is', null), eb('done_at', '>=', first.where('id', 'in', runIds))]));
  // Most reports are stored when nothing has been erased since, and need not read the transcripts of their runs.
  if ((await later.limit(1).executeTakeFirst()) === undefined) return new Set();
  const erased = await db
    .selectFrom('transcript_entries')
    .select('run_id')
    .distinct()
    .where('run_id', 'in', runIds)
    .where('payload', 'like', `%${ERASED}%`)
    .execute();
  return new Set(erased.map(({ run_id }) => run_id));
}

/** What is deleted in evaluations together with a conversation. */
export async function deleteInEvaluations({ db }: Tx, contextId: string): Promise<void> {
  const runs = db.selectFrom('runs').select('id').where('thread_id', '=', contextId);
  const runIds = (await runs.execute()).map(({ id }) => id);
  await renameCases(db, runIds, nameOfDeleted);
  await db.deleteFrom('evaluation_cases').where('run_id', 'in', runs).execute();
  const samples = db.updateTable('evaluation_samples').set({ details: null, run_id: null });
  await samples.where('run_id', 'in', runs).execute();
}

/** Deletes the texts of samples whose runs are deleted, and the names of those that did the run again. Their scores stay. */
export async function forgetSamples({ db }: Tx, runId: string): Promise<void> {
  await renameCases(db, [runId], nameOfDeleted);
  await db.updateTable('evaluation_samples').set({ details: null, run_id: null }).where('run_id', '=', runId).execute();
}

/**
 * Erases what evaluations have of these runs. A case without its texts and outcomes cannot be run, so it is deleted. The scores of samples
 * stay.
 */
export async function eraseInEvaluations({ db }: Tx, runIds: readonly string[]): Promise<void> {
  await renameCases(db, runIds, () => ERASED);
  await db.deleteFrom('evaluation_cases').where('run_id', 'in', runIds).execute();
  await db
    .updateTable('evaluation_samples')
    .set({ details: null, case_name: ERASED })
    .where('run_id', 'in', runIds)
    .execute();
}

/** The same in all versions, so that they can still be compared case by case. */
function nameOfDeleted(runId: string): string {
  return `deleted case ${runId.slice(-8)}`;
}

/**
 * Gives other names to the results of runs that go: the name of a case is mostly the beginning of what was asked. They are found by the cases
 * that are made of these runs, and by the forks that did these runs again.
 */
async function renameCases(
  db: Kysely<Tables>,
  runIds: readonly string[],
  nameOf: (runId: string) => string,
): Promise<void> {
  for (let start = 0; start < runIds.length; start += MOST_IDS) {
    const ids = runIds.slice(start, start + MOST_IDS);
    const cases = db.selectFrom('evaluation_cases').select(['evaluation_id', 'name', 'run_id']);
    for (const { evaluation_id, name, run_id } of await cases.where('run_id', 'in', ids).execute())
      await db
        .updateTable('evaluation_samples')
        .set({ case_name: nameOf(run_id) })
        .where('case_name', '=', name)
        .where('report_id', 'in', reportsOf(db, evaluation_id))
        .execute();
    const done = await db
      .selectFrom('forks')
      .innerJoin('runs', 'runs.thread_id', 'forks.thread_id')
      .innerJoin('evaluation_samples', 'evaluation_samples.run_id', 'runs.id')
      .select(['report_id', 'evaluation_samples.number', 'origin_run_id'])
      .where('origin_run_id', 'in', ids)
      .execute();
    for (const { report_id, number, origin_run_id } of done)
      await db
        .updateTable('evaluation_samples')
        .set({ case_name: nameOf(origin_run_id) })
        .where('report_id', '=', report_id)
        .where('number', '=', number)
        .execute();
  }
}

const MOST_IDS = 500;

const reportsOf = (db: Kysely<Tables>, evaluationId: string) =>
  db.selectFrom('evaluation_reports').select('id').where('evaluation_id', '=', evaluationId);
