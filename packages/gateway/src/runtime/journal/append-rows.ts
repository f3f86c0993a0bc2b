import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { TranscriptRow } from '../../domain/transcript/load-transcript.ts';
import { StaleTranscript } from '../../domain/transcript/stale-transcript.ts';
import { violatesConstraint } from '../../ports/store/constraint-error.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { sendRows } from '../../ports/store/send-rows.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import { type Columns, toColumns } from '../../ports/store/to-columns.ts';
import type { HeldThread } from '../lease/lease.ts';

/** The run that writes the rows, and the number of the first row. */
export interface RowPosition {
  readonly runId: string;
  readonly seq: number;
}

/**
 * Appends rows to a thread's transcript and returns them with their numbers. The statements are sent without waiting
 * for the answers. If the stored transcript does not end right before `seq`, the writer's copy is stale: the database
 * refuses the first row, and the transaction fails with `StaleTranscript` and is rolled back.
 */
export function appendRows(
  { tx, lease: { threadId } }: HeldThread,
  { runId, seq }: RowPosition,
  rows: readonly Omit<TranscriptRow, 'seq'>[],
): readonly TranscriptRow[] {
  if (rows.length === 0) return [];
  const values = { threadId, runId, now: tx.now() };
  const toError = (error: unknown): unknown =>
    violatesConstraint(error) ? new StaleTranscript(threadId, { cause: error }) : error;
  sendRows(tx, rows, {
    // If the copy is stale, the first row is refused, and the transaction is rolled back.
    each(row, index) {
      if (index === 0) tx.send(insertOne, { ...values, ...row, before: seq - 1 }, toError);
      else tx.send(insertNext, { ...values, ...row, seq: seq + index }, toError);
    },
    all() {
      const [kinds, payloads] = [rows.map(({ kind }) => kind), rows.map(({ payload }) => payload)];
      tx.send(insertAll, { ...values, before: seq - 1, kinds, payloads }, toError);
    },
  });
  return rows.map((row, index) => ({ seq: seq + index, ...row }));
}

interface RowValues {
  readonly threadId: string;
  readonly runId: string;
  readonly now: number;
  /**
   * The number of the last row that the writer knows. If the last stored row is another one, the new row gets null as
   * its number, which the table refuses.
   */
  readonly before: number;
}

interface OneRow extends RowValues, Omit<TranscriptRow, 'seq'> {}

const insertOne = statement(
  (_db, { threadId, before, runId, kind, payload, now }: Params<OneRow>) => sql`
    insert into transcript_entries (thread_id, seq, run_id, kind, payload, created_at)
    select ${threadId}, case when last.seq = ${before} then last.seq + 1 end, ${runId}, ${kind}, ${payload}, ${now}
    from (select coalesce(max(seq), 0) as seq from transcript_entries where thread_id = ${threadId}) as last`,
);

interface NextRow extends Omit<RowValues, 'before'>, TranscriptRow {}

const insertNext = statement((db, { threadId, runId, now, seq, kind, payload }: Params<NextRow>) =>
  db
    .insertInto('transcript_entries')
    .values({ thread_id: threadId, seq, run_id: runId, kind, payload, created_at: now }),
);

interface AllRows extends RowValues {
  readonly kinds: readonly string[];
  readonly payloads: readonly string[];
}

const insertAll = statement(
  (_db, { threadId, runId, now, before, kinds, payloads }: Params<AllRows>) => sql`
    insert into transcript_entries (thread_id, seq, run_id, kind, payload, created_at)
    select ${threadId}, case when last.seq = ${before}::bigint then last.seq + new_row.position end, ${runId}, new_row.kind,
      new_row.payload, ${now}::bigint
    from unnest(${kinds}::text[], ${payloads}::text[]) with ordinality as new_row(kind, payload, position),
      (select coalesce(max(seq), 0) as seq from transcript_entries where thread_id = ${threadId}) as last`,
  { key: 'threadId', toValues: (all) => toColumns(all.flatMap(toPlacedRows)), build: insertOfSeveral },
);

interface PlacedRow extends OneRow {
  /** The position among the rows of a thread, counted from 1. */
  readonly position: number;
}

function toPlacedRows({ kinds, payloads, ...values }: AllRows): readonly PlacedRow[] {
  return kinds.map((kind, index) => ({ ...values, kind, payload: payloads[index] as string, position: index + 1 }));
}

function insertOfSeveral(
  _db: Kysely<Tables>,
  { threadId, runId, now, before, position, kind, payload }: Params<Columns<PlacedRow>>,
): RawBuilder<unknown> {
  return sql`
    insert into transcript_entries (thread_id, seq, run_id, kind, payload, created_at)
    select new_row.thread_id, case when last.seq = new_row.before then last.seq + new_row.position end, new_row.run_id,
      new_row.kind, new_row.payload, new_row.now
    from unnest(${threadId}::text[], ${runId}::text[], ${now}::bigint[], ${before}::bigint[], ${position}::bigint[],
        ${kind}::text[], ${payload}::text[]) as new_row(thread_id, run_id, now, before, position, kind, payload),
      lateral (select coalesce(max(seq), 0) as seq from transcript_entries where thread_id = new_row.thread_id) as last`;
}
