import type { Entry } from '@lastcall/core';
import type { TranscriptRow } from '../../domain/transcript/load-transcript.ts';
import { toEntryPayload } from '../../domain/transcript/transcript-row.ts';
import type { HeldThread } from '../lease/lease.ts';
import { appendRows, type RowPosition } from './append-rows.ts';

/** Appends entries to a thread's transcript outside of a turn, and returns the rows. */
export function insertEntries(
  held: HeldThread,
  place: RowPosition,
  entries: readonly Entry[],
): readonly TranscriptRow[] {
  return appendRows(
    held,
    place,
    entries.map((entry) => ({ kind: entry.kind, payload: toEntryPayload({ entry }) })),
  );
}
