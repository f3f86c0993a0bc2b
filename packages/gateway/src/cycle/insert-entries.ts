import type { JournalRecord } from '@lastcall/core';
import { sql } from 'kysely';
import { toEntryPayload } from '../consciousness/transcript-row.ts';
import { statement } from '../store/statement.ts';
import type { Tx } from '../store/store.ts';
import type { WrittenRow } from './minds.ts';

/** Where in the store entries belong; `seq` is the first one's. */
export interface EntryPlace {
  readonly threadId: string;
  readonly runId: string;
  readonly seq: number;
}

/** Writes entries at the end of a thread's transcript, with the transaction's other statements. Gives the rows. */
export function insertEntries(
  tx: Tx,
  { threadId, runId, seq }: EntryPlace,
  records: readonly JournalRecord[],
): readonly WrittenRow[] {
  if (records.length === 0) return [];
  const place = { threadId, runId, now: tx.now() };
  const kinds = records.map(({ entry }) => entry.kind);
  const payloads = records.map(toEntryPayload);
  if (tx.dialect === 'postgres') tx.leave(insertAll(tx.db, { ...place, before: seq - 1, kinds, payloads }));
  else
    kinds.forEach((kind, index) => {
      const payload = payloads[index] as string;
      tx.leave(insertOne(tx.db, { ...place, seq: seq + index, kind, payload }));
    });
  return payloads.map((payload, index) => ({ seq: seq + index, payload }));
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
