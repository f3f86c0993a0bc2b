import type { Tx } from '../store/store.ts';
import { COMPACTION, type Compaction, toCompactionPayload } from './transcript-row.ts';

/** Where a compaction belongs: after the newest entry of a thread, by the run that made it. */
export interface CompactionPlace {
  readonly threadId: string;
  readonly runId: string;
  readonly seq: number;
}

/**
 * From here on the thread is loaded from this row. What its session holds is no part of it: whoever writes a compaction writes a
 * snapshot of the session in the same transaction.
 */
export async function writeCompaction(
  tx: Tx,
  { threadId, runId, seq }: CompactionPlace,
  compaction: Compaction,
): Promise<void> {
  await tx.db
    .insertInto('transcript_entries')
    .values({
      thread_id: threadId,
      seq,
      run_id: runId,
      kind: COMPACTION,
      payload: toCompactionPayload(compaction),
      created_at: tx.now(),
    })
    .execute();
}
