import type { Entry, JournalRecord } from '@lastcall/core';
import { type Kysely, sql } from 'kysely';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tables, TranscriptEntryRow } from '../../ports/store/tables.ts';
import { COMPACTION, fromCompactionPayload, fromEntryPayload } from './transcript-row.ts';

/** What a thread has in mind, as its last cycle left it. */
export interface Consciousness {
  /** For `new Transcript(entries)`: what the last compaction carried, then what was written since. */
  readonly entries: readonly Entry[];
  /**
   * What was written since the last compaction, for `replay`: of a session that is as it was at the compaction, or of one
   * restored from a snapshot, then only those with a `seq` after the snapshot's.
   */
  readonly records: readonly StoredRecord[];
  /** Of the next row. Rows of a thread are numbered from 1. */
  readonly nextSeq: number;
}

export interface StoredRecord extends JournalRecord {
  readonly seq: number;
}

/** Reads from the last compaction on: what came before stays in the store and is not read again. */
export async function loadConsciousness(db: Kysely<Tables>, threadId: string): Promise<Consciousness> {
  return toConsciousness(await loadTranscriptRows(db, threadId));
}

/** A row of a transcript as it is written. */
export type TranscriptRow = Pick<TranscriptEntryRow, 'seq' | 'kind' | 'payload'>;

/** What there is to be read of a mind. */
export async function loadTranscriptRows(db: Kysely<Tables>, threadId: string): Promise<readonly TranscriptRow[]> {
  return await fromLastCompaction(db, { threadId });
}

export function toConsciousness(rows: readonly TranscriptRow[]): Consciousness {
  const [first] = rows;
  const compaction = first?.kind === COMPACTION ? fromCompactionPayload(first.payload) : undefined;
  const own = compaction === undefined ? rows : rows.slice(1);
  const records = own.map(({ seq, payload }) => ({ seq, ...fromEntryPayload(payload) }));
  return {
    entries: [...(compaction?.carried ?? []), ...records.map(({ entry }) => entry)],
    records,
    nextSeq: (rows.at(-1)?.seq ?? 0) + 1,
  };
}

/** Walks back from the newest row, so that it costs what was written since, however long the thread is. */
const fromLastCompaction = statement((db, { threadId }: Params<{ threadId: string }>) =>
  db
    .selectFrom('transcript_entries')
    .select(['seq', 'kind', 'payload'])
    .where('thread_id', '=', threadId)
    .where('seq', '>=', (eb) =>
      eb.fn.coalesce(
        eb
          .selectFrom('transcript_entries as compaction')
          .select('compaction.seq')
          .where('compaction.thread_id', '=', threadId)
          .where('compaction.kind', '=', COMPACTION)
          .orderBy('compaction.seq', 'desc')
          .limit(sql.lit(1)),
        eb.lit(0),
      ),
    )
    .orderBy('seq'),
);
