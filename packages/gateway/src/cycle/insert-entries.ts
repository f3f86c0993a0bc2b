import type { JournalRecord } from '@lastcall/core';
import { toEntryPayload } from '../consciousness/transcript-row.ts';
import { inParts } from '../store/in-parts.ts';
import type { Tx } from '../store/store.ts';

/** Where in the store entries belong; `seq` is the first one's. */
export interface EntryPlace {
  readonly threadId: string;
  readonly runId: string;
  readonly seq: number;
}

/** Writes entries at the end of a thread's transcript. */
export async function insertEntries(
  tx: Tx,
  { threadId, runId, seq }: EntryPlace,
  records: readonly JournalRecord[],
): Promise<void> {
  const now = tx.now();
  const rows = records.map((record, index) => ({
    thread_id: threadId,
    seq: seq + index,
    run_id: runId,
    kind: record.entry.kind,
    payload: toEntryPayload(record),
    created_at: now,
  }));
  for (const part of inParts(rows)) await tx.db.insertInto('transcript_entries').values(part).execute();
}
