import { sql } from 'kysely';
import type { Tx } from '../../ports/store/store.ts';
import { runChannel } from '../streams/channels.ts';

/** Deletes a context with all its runs, calls, requests and streams. Nothing in it may be running. */
export async function deleteContext({ db }: Tx, contextId: string): Promise<void> {
  const runs = db.selectFrom('runs').select('id').where('thread_id', '=', contextId);
  // Includes requests whose run never began.
  const requested = db.selectFrom('inbox_events').select('run_id').where('thread_id', '=', contextId);
  const channels = requested.clearSelect().select(sql<string>`${sql.lit(runChannel(''))} || run_id`.as('channel'));
  await db.deleteFrom('stream_events').where('channel', 'in', channels).execute();
  await db.deleteFrom('channels').where('id', 'in', channels).execute();
  await db.deleteFrom('turn_requests').where('run_id', 'in', requested).execute();
  await db.deleteFrom('inbox_events').where('thread_id', '=', contextId).execute();
  await db.deleteFrom('calls').where('run_id', 'in', runs).execute();
  await db.deleteFrom('nested_usage').where('run_id', 'in', runs).execute();
  await db.deleteFrom('transcript_entries').where('thread_id', '=', contextId).execute();
  await db.deleteFrom('runs').where('thread_id', '=', contextId).execute();
  await db.deleteFrom('contexts').where('id', '=', contextId).execute();
  await db.deleteFrom('threads').where('id', '=', contextId).execute();
}
