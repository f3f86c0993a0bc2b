import type { JournalRecord } from '@lastcall/core';
import { type TranscriptRow, toRecord } from './load-transcript.ts';
import { isMachineRecord } from './machine-rows.ts';
import type { SessionState } from './restore-session.ts';
import { COMPACTION, fromCompactionPayload } from './transcript-row.ts';

/** What the thread has of a machine: the last snapshot, and what the machine wrote since. */
export function storedMachine({
  rows,
  state,
}: {
  /** The rows since the last compaction. */
  readonly rows: readonly TranscriptRow[];
  readonly state: SessionState | undefined;
}): Pick<SessionState, 'machine' | 'records'> {
  const snapshot = snapshotIn(rows);
  const { machine, records: before = [] } = snapshot === undefined ? (state ?? {}) : { machine: snapshot };
  const records = [...before, ...recordsIn(rows)];
  return { ...(machine === undefined ? {} : { machine }), ...(records.length === 0 ? {} : { records }) };
}

/** What a machine wrote to its journal. */
export function recordsIn(rows: readonly TranscriptRow[]): readonly JournalRecord[] {
  return rows.flatMap((row): readonly JournalRecord[] => {
    if (row.kind === COMPACTION) return [];
    const record = toRecord(row);
    return isMachineRecord(record) ? [record] : [];
  });
}

/** The machine that the last compaction stored. */
function snapshotIn([first]: readonly TranscriptRow[]): unknown {
  return first?.kind === COMPACTION ? fromCompactionPayload(first.payload).machine : undefined;
}
