import type { Entry, JournalRecord } from '@lastcall/core';
import { type Kysely, sql } from 'kysely';
import type { Tables, TranscriptEntryRow } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import { isSpoken } from './machine-rows.ts';
import { COMPACTION, fromCompactionPayload, fromEntryPayload } from './transcript-row.ts';

/** What a thread remembers, as its last run left it. */
export interface StoredTranscript {
  /** The entries for `new Transcript(entries)`: those that the last compaction carried over, then those written since. */
  readonly entries: readonly Entry[];
  /**
   * What was written since the last compaction, to `replay` on a session. If the session was restored from a snapshot,
   * only the records with a `seq` after the snapshot's are replayed.
   */
  readonly records: readonly StoredRecord[];
  /** The number of the next row. Rows of a thread are numbered from 1. */
  readonly nextSeq: number;
}

export interface StoredRecord extends JournalRecord {
  readonly seq: number;
}

/** Reads from the last compaction on. Earlier rows stay in the store and are not read again. */
export async function loadTranscript(db: Kysely<Tables>, threadId: string): Promise<StoredTranscript> {
  return toStoredTranscript(await loadTranscriptRows(db, threadId));
}

/** A row of a transcript as it is stored. */
export type TranscriptRow = Pick<TranscriptEntryRow, 'seq' | 'kind' | 'payload'>;

/** Reads the rows that make up an agent's transcript. */
export async function loadTranscriptRows(db: Kysely<Tables>, threadId: string): Promise<readonly TranscriptRow[]> {
  return await fromLastCompaction(db, { threadId });
}

/** Reads the rows that the transcript was made of before the row `seq` was written. */
export async function loadRowsBefore(
  db: Kysely<Tables>,
  { threadId, seq }: { readonly threadId: string; readonly seq: number },
): Promise<readonly TranscriptRow[]> {
  const before = db.selectFrom('transcript_entries').where('thread_id', '=', threadId).where('seq', '<', seq);
  const compacted = await before
    .select('seq')
    .where('kind', '=', COMPACTION)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return await before
    .select(['seq', 'kind', 'payload'])
    .where('seq', '>=', compacted?.seq ?? 0)
    .orderBy('seq')
    .execute();
}

export function toStoredTranscript(rows: readonly TranscriptRow[]): StoredTranscript {
  const [first] = rows;
  const carried = first === undefined ? undefined : fromFirstRow(first);
  const records = (carried === undefined ? rows : rows.slice(1)).map(toRecord).filter(({ entry }) => isSpoken(entry));
  return {
    entries: [...(carried ?? []), ...records.map(({ entry }) => entry)],
    records,
    nextSeq: (rows.at(-1)?.seq ?? 0) + 1,
  };
}

/** The entries that a compaction carried over. Undefined for any other row. */
export function fromFirstRow({ kind, payload }: TranscriptRow): readonly Entry[] | undefined {
  return kind === COMPACTION ? freeze(fromCompactionPayload(payload).carried) : undefined;
}

/**
 * Cached rows are parsed once. Their records are frozen, because all runs share them: a change by one run would become
 * the past of the next. The record is a field of its row, because every run reads the records of all rows, and a look-up in a
 * WeakMap takes ten times as long.
 */
const RECORD: unique symbol = Symbol('record');

export function toRecord(row: TranscriptRow & { [RECORD]?: StoredRecord }): StoredRecord {
  const known = row[RECORD];
  if (known !== undefined) return known;
  const record = freeze({ seq: row.seq, ...fromEntryPayload(row.payload) });
  // Not enumerable, so that code that copies or compares the row does not see it.
  Object.defineProperty(row, RECORD, { value: record });
  return record;
}

/** Objects that are not plain JSON, such as a URL, are not frozen. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return value;
  for (const key of Object.keys(value)) freeze((value as Readonly<Record<string, unknown>>)[key]);
  return Object.freeze(value);
}

/**
 * Searches backwards from the newest row, so the cost depends on what was written since the compaction, not on the
 * thread's length.
 */
const fromLastCompaction = statement(
  (db, { threadId }: Params<{ threadId: string }>) =>
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
  { types: { threadId: 'text' } },
);
