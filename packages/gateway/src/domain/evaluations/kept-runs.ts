import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
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

/** What is deleted in evaluations together with a conversation. */
export async function deleteInEvaluations(tx: Tx, contextId: string): Promise<void> {
  const runs = tx.db.selectFrom('runs').select('id').where('thread_id', '=', contextId);
  await tx.db.deleteFrom('evaluation_cases').where('run_id', 'in', runs).execute();
  const samples = tx.db.updateTable('evaluation_samples').set({ details: null, run_id: null });
  await samples.where('run_id', 'in', runs).execute();
}

/** Deletes the texts of samples whose runs are deleted. Their scores stay. */
export async function forgetSamples({ db }: Tx, runId: string): Promise<void> {
  await db.updateTable('evaluation_samples').set({ details: null, run_id: null }).where('run_id', '=', runId).execute();
}

/**
 * Erases what evaluations have of these runs. A case without its texts and outcomes cannot be run, so it is deleted. The scores of samples
 * stay.
 */
export async function eraseInEvaluations({ db }: Tx, runIds: readonly string[]): Promise<void> {
  await db.deleteFrom('evaluation_cases').where('run_id', 'in', runIds).execute();
  await db
    .updateTable('evaluation_samples')
    .set({ details: null, case_name: ERASED })
    .where('run_id', 'in', runIds)
    .execute();
}
