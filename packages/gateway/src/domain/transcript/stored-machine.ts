import type { JournalRecord } from '@lastcall/core';
import { type TranscriptRow, toRecord } from './load-transcript.ts';
import { isMachineRecord } from './machine-rows.ts';
import type { SessionState } from './restore-session.ts';
import { COMPACTION } from './transcript-row.ts';

/** What the thread has of a machine: the last snapshot, and what the machine wrote since. */
export function storedMachine({
  rows,
  state,
}: {
  /** The rows since the last compaction. */
  readonly rows: readonly TranscriptRow[];
  readonly state: SessionState | undefined;
}): Pick<SessionState, 'machine' | 'records'> {
  const written = rows.flatMap((row): readonly JournalRecord[] => {
    if (row.kind === COMPACTION) return [];
    const record = toRecord(row);
    return isMachineRecord(record) ? [record] : [];
  });
  const records = [...(state?.records ?? []), ...written];
  const machine = state?.machine;
  return { ...(machine === undefined ? {} : { machine }), ...(records.length === 0 ? {} : { records }) };
}
