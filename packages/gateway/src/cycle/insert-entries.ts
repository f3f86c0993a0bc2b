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
  if (records.length === 0) return [];
  const place = { threadId, runId, now: tx.now() };
  const kinds = records.map(({ record }) => record.entry.kind);
  const payloads = records.map(({ payload }) => payload);
  if (tx.dialect === 'postgres') tx.leave(insertAll(tx.db, { ...place, before: seq - 1, kinds, payloads }));
  else
    kinds.forEach((kind, index) => {
      const payload = payloads[index] as string;
      tx.leave(insertOne(tx.db, { ...place, seq: seq + index, kind, payload }));
    });
  return records.map(({ record, payload }, index) => ({ seq: seq + index, kind: record.entry.kind, payload }));
}

interface Place {
  readonly threadId: string;
  readonly runId: string;
  readonly now: number;
}

interface OneEntry extends Place {
  readonly seq: number;
  readonly kind: string;
  readonly payload: string;
}

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
const insertAll = statement((db, { threadId, runId, now, before, kinds, payloads }: AllEntries) => {
  const text = sql`
    insert into transcript_entries (thread_id, seq, run_id, kind, payload, created_at)
    select ${threadId}, ${before}::bigint + given.place, ${runId}, given.kind, given.payload, ${now}::bigint
    from unnest(${kinds}::text[], ${payloads}::text[]) with ordinality as given(kind, payload, place)`;
  return { compile: () => text.compile(db) };
});
