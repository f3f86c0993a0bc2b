import type { Tx } from '../../ports/store/store.ts';

/** The number of the last row of a thread's transcript, or 0 if there is none. */
export async function lastSeq(tx: Tx, threadId: string): Promise<number> {
  return await newest(rowsOf(tx, threadId));
}

/**
 * How far a thread has come: the number of its last row that is not the start of a call. Starts do not count, because
 * an idempotent call is started again by each worker that takes it over, and may stop each of them.
 */
export async function progressOf(tx: Tx, threadId: string): Promise<number> {
  return await newest(rowsOf(tx, threadId).where('kind', '!=', 'started'));
}

const rowsOf = ({ db }: Tx, threadId: string) =>
  db.selectFrom('transcript_entries').select('seq').where('thread_id', '=', threadId);

async function newest(rows: ReturnType<typeof rowsOf>): Promise<number> {
  const last = await rows.orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return last?.seq ?? 0;
}
