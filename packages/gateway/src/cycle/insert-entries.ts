import type { JournalRecord } from '@lastcall/core';
import { sql } from 'kysely';
import type { MindRow } from '../consciousness/load-consciousness.ts';
import { toEntryPayload } from '../consciousness/transcript-row.ts';
import { statement } from '../store/statement.ts';
import type { Tx } from '../store/store.ts';

/** Where in the store entries belong; `seq` is the first one's. */
export interface EntryPlace {
  readonly threadId: string;
  readonly runId: string;
  readonly seq: number;
}

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
  tx: Tx,
  { threadId, runId, seq }: EntryPlace,
  records: readonly PreparedRecord[],
): readonly MindRow[] {
  const rows = records.map(({ record, payload }, index) => ({ seq: seq + index, kind: record.entry.kind, payload }));
  const place = { threadId, runId, now: tx.now() };
  if (tx.dialect === 'sqlite') for (const row of rows) tx.leave(insertOne(tx.db, { ...place, ...row }));
  else if (rows.length > 0) {
    const [kinds, payloads] = [rows.map(({ kind }) => kind), rows.map(({ payload }) => payload)];
    tx.leave(insertAll(tx.db, { ...place, before: seq - 1, kinds, payloads }));
  }
  return rows;
}

interface Place {
  readonly threadId: string;
  readonly runId: string;
  readonly now: number;
}

interface OneEntry extends Place, MindRow {}

const insertOne = statement((db, { threadId, seq, runId, kind, payload, now }: OneEntry) =>
  db
    .insertInto('transcript_entries')
    .values({ thread_id: threadId, seq, run_id: runId, kind, payload, created_at: now }),
);

interface AllEntries extends Place {
  readonly before: number;
  readonly kinds: readonly string[];
  readonly payloads: readonly string[];
}

/** One statement for all, where each has its way to go. */
const insertAll = statement(
  (_db, { threadId, runId, now, before, kinds, payloads }: AllEntries) => sql`
    insert into transcript_entries (thread_id, seq, run_id, kind, payload, created_at)
    select ${threadId}, ${before}::bigint + given.place, ${runId}, given.kind, given.payload, ${now}::bigint
    from unnest(${kinds}::text[], ${payloads}::text[]) with ordinality as given(kind, payload, place)`,
);
