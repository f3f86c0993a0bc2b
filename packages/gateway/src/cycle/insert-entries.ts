import type { JournalRecord } from '@lastcall/core';
import { toEntryPayload } from '../consciousness/transcript-row.ts';
import { statement } from '../store/statement.ts';
import type { Tx } from '../store/store.ts';

/** Where in the store entries belong; `seq` is the first one's. */
export interface EntryPlace {
  readonly threadId: string;
  readonly runId: string;
  readonly seq: number;
}

/** Writes entries at the end of a thread's transcript, with the transaction's other statements. */
export function insertEntries(tx: Tx, { threadId, runId, seq }: EntryPlace, records: readonly JournalRecord[]): void {
  const now = tx.now();
  records.forEach((record, index) => {
    const { kind } = record.entry;
    const entry = { threadId, seq: seq + index, runId, kind, payload: toEntryPayload(record), now };
    tx.leave(insertEntry(tx.db, entry));
  });
}

interface EntryValues extends EntryPlace {
  readonly kind: string;
  readonly payload: string;
  readonly now: number;
}

const insertEntry = statement((db, { threadId, seq, runId, kind, payload, now }: EntryValues) =>
  db
    .insertInto('transcript_entries')
    .values({ thread_id: threadId, seq, run_id: runId, kind, payload, created_at: now }),
);
