import type { JournalRecord } from '@lastcall/core';
import type { TranscriptRow } from '../../domain/consciousness/load-consciousness.ts';
import { toEntryPayload } from '../../domain/consciousness/transcript-row.ts';
import type { HeldThread } from '../lease/lease.ts';
import { appendRows, type RowPosition } from './append-rows.ts';

/** A record and its JSON, serialized when it happened. */
export interface SerializedRecord {
  readonly record: JournalRecord;
  readonly payload: string;
}

export function serializeRecord(record: JournalRecord): SerializedRecord {
  return { record, payload: toEntryPayload(record) };
}

/**
 * Appends entries to a thread's transcript and returns the rows. The statements are sent without waiting for the
 * answers.
 */
export function insertEntries(
  held: HeldThread,
  place: RowPosition,
  records: readonly SerializedRecord[],
): readonly TranscriptRow[] {
  return appendRows(
    held,
    place,
    records.map(({ record, payload }) => ({ kind: record.entry.kind, payload })),
  );
}
