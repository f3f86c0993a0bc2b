import type { JournalRecord } from '@lastcall/core';
import type { TranscriptRow } from '../../domain/consciousness/load-consciousness.ts';
import { toEntryPayload } from '../../domain/consciousness/transcript-row.ts';
import type { HeldThread } from '../lease.ts';
import { appendRows, type RowPlace } from './append-rows.ts';

/** A record, and the text that is written of it: as it was when it happened. */
export interface PreparedRecord {
  readonly record: JournalRecord;
  readonly payload: string;
}

export function toPrepared(record: JournalRecord): PreparedRecord {
  return { record, payload: toEntryPayload(record) };
}

/** Writes entries at the end of a thread's transcript, with the transaction's other statements. Gives the rows. */
export function insertEntries(
  held: HeldThread,
  place: RowPlace,
  records: readonly PreparedRecord[],
): readonly TranscriptRow[] {
  return appendRows(
    held,
    place,
    records.map(({ record, payload }) => ({ kind: record.entry.kind, payload })),
  );
}
