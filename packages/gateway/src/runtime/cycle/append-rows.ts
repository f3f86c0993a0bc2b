import { sql } from 'kysely';
import type { TranscriptRow } from '../../domain/consciousness/load-consciousness.ts';
import { StaleTranscript } from '../../domain/consciousness/stale-transcript.ts';
import { violatesConstraint } from '../../ports/store/constraint-error.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { HeldThread } from '../lease.ts';

/** By which run rows are written; `seq` is the first one's. */
export interface RowPlace {
  readonly runId: string;
  readonly seq: number;
}

/**
 * Writes rows at the end of a thread's transcript, with the transaction's other statements. Gives them with their numbers. If the
 * transcript does not end right before `seq`, its writer knows another transcript than the one that is stored: the database refuses
 * the first row, the transaction fails with `StaleTranscript`, and nothing of it remains.
 */
export function appendRows(
  { tx, lease: { threadId } }: HeldThread,
  { runId, seq }: RowPlace,
  rows: readonly Omit<TranscriptRow, 'seq'>[],
): readonly TranscriptRow[] {
  if (rows.length === 0) return [];
  const place = { threadId, runId, now: tx.now() };
  const toError = (error: unknown): unknown =>
    violatesConstraint(error) ? new StaleTranscript(threadId, { cause: error }) : error;
  if (tx.dialect === 'sqlite')
    for (const [index, row] of rows.entries())
      tx.send(insertOne, { ...place, ...row, before: seq + index - 1 }, toError);
  else {
    const [kinds, payloads] = [rows.map(({ kind }) => kind), rows.map(({ payload }) => payload)];
    tx.send(insertAll, { ...place, before: seq - 1, kinds, payloads }, toError);
  }
  return rows.map((row, index) => ({ seq: seq + index, ...row }));
}

interface Place {
  readonly threadId: string;
  readonly runId: string;
  readonly now: number;
  /** The number of the last row that the writer knows. Where another is the last, the new row gets no number, and none may lack one. */
  readonly before: number;
}

interface OneRow extends Place, Omit<TranscriptRow, 'seq'> {}

const insertOne = statement(
  (_db, { threadId, before, runId, kind, payload, now }: Params<OneRow>) => sql`
    insert into transcript_entries (thread_id, seq, run_id, kind, payload, created_at)
    select ${threadId}, case when last.seq = ${before} then last.seq + 1 end, ${runId}, ${kind}, ${payload}, ${now}
    from (select coalesce(max(seq), 0) as seq from transcript_entries where thread_id = ${threadId}) as last`,
);

interface AllRows extends Place {
  readonly kinds: readonly string[];
  readonly payloads: readonly string[];
}

/** One statement for all of them, because each that is sent by itself costs more than it does. */
const insertAll = statement(
  (_db, { threadId, runId, now, before, kinds, payloads }: Params<AllRows>) => sql`
    insert into transcript_entries (thread_id, seq, run_id, kind, payload, created_at)
    select ${threadId}, case when last.seq = ${before}::bigint then last.seq + given.place end, ${runId}, given.kind,
      given.payload, ${now}::bigint
    from unnest(${kinds}::text[], ${payloads}::text[]) with ordinality as given(kind, payload, place),
      (select coalesce(max(seq), 0) as seq from transcript_entries where thread_id = ${threadId}) as last`,
);
