import { type Kysely, sql } from 'kysely';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import type { StreamEventRow, Tables } from '../../ports/store/schema/tables.ts';
import { LARGE_BYTES, readLargeEvent, toStreamEvent } from './large-event.ts';

/** The number of bytes that one reader takes from the table at once. */
export const PAGE_BYTES = 1_000_000;
const PAGE_EVENTS = 100;

/** The position of a reader in a stream. */
interface StreamPosition {
  readonly stream: string;
  readonly after: number;
}

/**
 * Reads up to a hundred events in a row, or one large one, so that a reader's memory is bounded. Empty if the next
 * event does not exist.
 */
export async function readPage(db: Kysely<Tables>, { stream, after }: StreamPosition): Promise<StreamEvent[]> {
  const rows = await readRows(db, { stream, after });
  const cut = rows.findIndex(({ seq, payload }, index) => seq !== after + 1 + index || payload === null);
  const page = cut === -1 ? rows : rows.slice(0, cut);
  if (page.length > 0) return page.map((row) => toStreamEvent({ ...row, stream, payload: row.payload ?? '' }));
  if (rows[0]?.seq !== after + 1) return [];
  const large = await readLargeEvent(db, { stream, seq: after + 1 });
  return large === undefined ? [] : [large];
}

interface Row extends Pick<StreamEventRow, 'seq' | 'type' | 'created_at' | 'revocations'> {
  /** Null for a large event. */
  readonly payload: string | null;
}

async function readRows(db: Kysely<Tables>, { stream, after }: StreamPosition): Promise<Row[]> {
  return await db
    .with('next', (db) =>
      db
        .selectFrom('stream_events')
        .select(['seq', 'type', 'created_at', 'revocations'])
        .select(sql<number>`octet_length(payload)`.as('bytes'))
        .select(sql<string | null>`case when octet_length(payload) < ${LARGE_BYTES} then payload end`.as('payload'))
        .where('stream', '=', stream)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(PAGE_EVENTS),
    )
    .with('measured', (db) =>
      db.selectFrom('next').selectAll().select(sql<number>`sum(bytes) over (order by seq) - bytes`.as('before')),
    )
    .selectFrom('measured')
    .select(['seq', 'type', 'created_at', 'revocations', 'payload'])
    .where('before', '<', PAGE_BYTES)
    .orderBy('seq')
    .execute();
}

/** The number of the stream's newest event. */
export async function readEnd(db: Kysely<Tables>, stream: string): Promise<number> {
  const row = await db.selectFrom('streams').select('next_seq').where('id', '=', stream).executeTakeFirst();
  return row === undefined ? 0 : row.next_seq - 1;
}
