import { type Kysely, sql } from 'kysely';
import type { StreamEvent } from '../bus/bus.ts';
import { fromJson } from '../store/json.ts';
import type { Tables } from '../store/tables.ts';

/** How much one reader takes from the table at once. */
export const PAGE_CHARACTERS = 1_000_000;
const PAGE_EVENTS = 100;

/** Up to a hundred events in a row, fewer where they are large: what one reader holds is bounded. Empty where the next one is not there. */
export async function readPage(
  db: Kysely<Tables>,
  { channel, after }: { channel: string; after: number },
): Promise<StreamEvent[]> {
  const rows = await db
    .with('next', (db) =>
      db
        .selectFrom('stream_events')
        .select(['seq', 'type', 'payload', 'created_at', 'revocations'])
        .where('channel', '=', channel)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(PAGE_EVENTS),
    )
    .with('measured', (db) =>
      db
        .selectFrom('next')
        .selectAll()
        .select(sql<number>`sum(length(payload)) over (order by seq) - length(payload)`.as('before')),
    )
    .selectFrom('measured')
    .select(['seq', 'type', 'payload', 'created_at', 'revocations'])
    .where('before', '<', PAGE_CHARACTERS)
    .orderBy('seq')
    .execute();
  const firstGap = rows.findIndex(({ seq }, index) => seq !== after + 1 + index);
  return (firstGap === -1 ? rows : rows.slice(0, firstGap)).map(({ seq, type, payload, created_at, revocations }) => ({
    channel,
    seq,
    type,
    payload: fromJson(payload),
    at: created_at,
    revocations,
  }));
}

/** The number of the channel's newest event. */
export async function readEnd(db: Kysely<Tables>, channel: string): Promise<number> {
  const row = await db.selectFrom('channels').select('next_seq').where('id', '=', channel).executeTakeFirst();
  return row === undefined ? 0 : row.next_seq - 1;
}
