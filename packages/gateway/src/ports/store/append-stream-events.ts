import { sql } from 'kysely';
import { pipeline } from './pipeline.ts';
import { type Params, statement } from './statement.ts';
import type { Tx } from './store.ts';

/** The channel of revoked keys, for gateways only. Its numbers count them. */
export const REVOCATIONS = 'revocations';

/** The database's answer for a batch: its first number, and how many keys had been revoked. */
export interface Numbered {
  readonly first: number;
  readonly revocations: number;
}

/** The events of one channel. */
export interface Batch {
  readonly channel: string;
  readonly at: number;
  readonly events: readonly { readonly type: string; readonly payload: string }[];
}

/**
 * Draws the numbers of a channel's events and writes them. The channel's row stays locked until the commit. The numbers may
 * be known only after it: then the returned function gives them.
 */
export async function appendStreamEvents(tx: Tx, batch: Batch): Promise<() => Numbered> {
  return tx.dialect === 'postgres' ? writeInOneStatement(tx, batch) : await writeInSeveral(tx, batch);
}

/** Draws the numbers and writes the events in one statement. */
function writeInOneStatement(tx: Tx, { channel, at, events }: Batch): () => Numbered {
  const types = events.map(({ type }) => type);
  const payloads = events.map(({ payload }) => payload);
  const sent = tx.send(numberAndInsert, { channel, at, count: events.length, types, payloads });
  return () => ({ first: Math.min(...sent.rows.map(({ seq }) => seq)), revocations: sent.rows[0]?.revocations ?? 0 });
}

interface BatchValues {
  readonly channel: string;
  readonly at: number;
  readonly count: number;
  readonly types: readonly string[];
  readonly payloads: readonly string[];
}

const numberAndInsert = statement(
  (_db, { channel, at, count, types, payloads }: Params<BatchValues>) => sql<{ seq: number; revocations: number }>`
    with numbered as (
      insert into channels (id, next_seq, swept_seq) values (${channel}, ${count}::int + 1, 0)
      on conflict (id) do update set next_seq = channels.next_seq + ${count}::int
      returning next_seq - ${count}::int as first
    )
    insert into stream_events (channel, seq, type, payload, created_at, revocations)
    select ${channel}, numbered.first + new_event.position - 1, new_event.type, new_event.payload, ${at}::bigint,
      coalesce((select next_seq - 1 from channels where id = ${REVOCATIONS}), 0)
    from numbered, unnest(${types}::text[], ${payloads}::text[]) with ordinality as new_event(type, payload, position)
    returning seq, revocations`,
);

/** The same in several statements, for SQLite. */
async function writeInSeveral(tx: Tx, { channel, at, events }: Batch): Promise<() => Numbered> {
  const [[drawn], [revoked]] = await pipeline(
    drawNumbers(tx.db, { channel, count: events.length }),
    countRevocations(tx.db, {}),
  );
  const first = (drawn?.next_seq ?? Number.NaN) - events.length;
  const revocations = (revoked?.next_seq ?? 1) - 1;
  await pipeline(
    ...events.map(({ type, payload }, place) =>
      insertEvent(tx.db, { channel, seq: first + place, type, payload, at, revocations }),
    ),
  );
  return () => ({ first, revocations });
}

/** Draws `count` numbers of the channel. */
const drawNumbers = statement((db, { channel, count }: Params<Pick<BatchValues, 'channel' | 'count'>>) =>
  db
    .insertInto('channels')
    .values({ id: channel, next_seq: sql`${count} + 1`, swept_seq: 0 })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({ next_seq: eb('channels.next_seq', '+', count) })),
    )
    .returning('next_seq'),
);

const countRevocations = statement((db) => db.selectFrom('channels').select('next_seq').where('id', '=', REVOCATIONS));

interface EventValues {
  readonly channel: string;
  readonly seq: number;
  readonly type: string;
  readonly payload: string;
  readonly at: number;
  readonly revocations: number;
}

const insertEvent = statement((db, { channel, seq, type, payload, at, revocations }: Params<EventValues>) =>
  db.insertInto('stream_events').values({ channel, seq, type, payload, created_at: at, revocations }),
);
