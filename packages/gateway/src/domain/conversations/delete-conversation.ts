import { sql } from 'kysely';
import type { Tx } from '../../ports/store/store.ts';
import { giveUpUploads } from '../artifacts/upload.ts';
import { deleteInEvaluations } from '../evaluations/kept-runs.ts';
import { deleteFilesOfThread } from '../files/delete-files.ts';
import { runStream } from '../streams/stream-names.ts';

/** Deletes a conversation with all its runs, calls, requests, streams and files. Nothing in it may be running. */
export async function deleteConversation(tx: Tx, contextId: string): Promise<void> {
  const { db } = tx;
  // A run that is being made a case is one before anything is deleted.
  await db.selectFrom('threads').select('id').where('id', '=', contextId).forUpdate().execute();
  const runs = db.selectFrom('runs').select('id').where('thread_id', '=', contextId);
  // Includes requests whose run never began.
  const requested = db.selectFrom('inbox_events').select('run_id').where('thread_id', '=', contextId);
  const streams = requested.clearSelect().select(sql<string>`${sql.lit(runStream(''))} || run_id`.as('stream'));
  await db.deleteFrom('stream_events').where('stream', 'in', streams).execute();
  await db.deleteFrom('streams').where('id', 'in', streams).execute();
  await db.deleteFrom('turn_requests').where('run_id', 'in', requested).execute();
  await db.deleteFrom('inbox_events').where('thread_id', '=', contextId).execute();
  await deleteInEvaluations(tx, contextId);
  await db.deleteFrom('calls').where('run_id', 'in', runs).execute();
  await db.deleteFrom('nested_usage').where('run_id', 'in', runs).execute();
  await db.deleteFrom('sub_agent_turns').where('run_id', 'in', runs).execute();
  await db.deleteFrom('transcript_entries').where('thread_id', '=', contextId).execute();
  await db.deleteFrom('runs').where('thread_id', '=', contextId).execute();
  await deleteFilesOfThread(tx, contextId);
  await db.deleteFrom('forks').where('thread_id', '=', contextId).execute();
  await giveUpUploads(tx, contextId);
  await db.deleteFrom('contexts').where('id', '=', contextId).execute();
  await db.deleteFrom('threads').where('id', '=', contextId).execute();
}
