import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from './schema/tables.ts';
import { type Param, type Params, statement } from './statement.ts';
import type { Tx } from './store.ts';

/** The stream of revoked keys, which only gateways read. Its sequence number is the number of revoked keys. */
export const REVOCATIONS = 'revocations';

/** An event to write, and its position in its stream, counted back from the last event, which is 1. */
export interface NumberedEvent {
  readonly stream: string;
  readonly type: string;
  readonly json: string;
  readonly fromEnd: number;
}

/**
 * Allocates the numbers of the events and inserts them. The events are ordered by stream, whose rows stay locked until
 * the commit. The numbers are known after the commit, so they are returned by a function.
 */
export function appendStreamEvents(tx: Tx, events: readonly NumberedEvent[], at: number): () => Written {
  const streams = [...Map.groupBy(events, ({ stream }) => stream)].map(([stream, own]) => ({
    ...{ at, stream, count: own.length },
    types: own.map(({ type }) => type),
    payloads: own.map(({ json }) => json),
  }));
  return tx.dialect === 'postgres' ? sendByStream(tx, streams) : sendByEvent(tx, streams);
}

/** The database's answer: the next number of each stream, and how many keys had been revoked. */
export interface Written {
  readonly nextSeqs: ReadonlyMap<string, number>;
  readonly revocations: number;
}

/** The events of one stream. */
interface EventsOfStream {
  readonly at: number;
  readonly stream: string;
  readonly count: number;
  readonly types: readonly string[];
  readonly payloads: readonly string[];
}

/**
 * Sends one statement per stream. A single statement for all streams takes twice as long as this one, and most
 * transactions have one stream.
 */
function sendByStream(tx: Tx, streams: readonly EventsOfStream[]): () => Written {
  const sent = streams.map((own) => ({ stream: own.stream, answer: tx.send(numberAndInsert, own) }));
  return () => {
    const nextSeqs = new Map(sent.map(({ stream, answer }) => [stream, afterLast(answer.rows)]));
    return { nextSeqs, revocations: sent[0]?.answer.rows[0]?.revocations ?? 0 };
  };
}

function afterLast(written: readonly { readonly seq: number }[]): number {
  return Math.max(...written.map(({ seq }) => seq)) + 1;
}

const numberAndInsert = statement(
  (_db, { at, stream, count, types, payloads }: Params<EventsOfStream>) =>
    sql<{ seq: number; revocations: number }>`
      with numbered as (
        insert into streams (id, next_seq, swept_seq, oldest_at) values (${stream}, ${count}::bigint + 1, 0, ${at}::bigint)
        on conflict (id) do update set next_seq = streams.next_seq + excluded.next_seq - 1,
          oldest_at = coalesce(streams.oldest_at, excluded.oldest_at)
        returning next_seq
      )
      insert into stream_events (stream, seq, type, payload, created_at, revocations)
      select ${stream}, numbered.next_seq - ${count}::bigint + new_event.place - 1, new_event.type, new_event.payload,
        ${at}::bigint, coalesce((select next_seq - 1 from streams where id = ${REVOCATIONS}), 0)
      from numbered, unnest(${types}::text[], ${payloads}::text[]) with ordinality as new_event(type, payload, place)
      returning seq, revocations`,
  { key: 'stream', isLast: true, toValues: toEventArrays, build: numberAndInsertSeveral },
);

/** The events of several streams, grouped by stream. */
interface EventArrays {
  readonly streams: readonly string[];
  readonly counts: readonly number[];
  readonly beginnings: readonly number[];
  /** One element per event, as in the arrays below. */
  readonly owners: readonly string[];
  readonly ats: readonly number[];
  /** The position counted back from the last event of its stream, which is 1. */
  readonly fromEnds: readonly number[];
  readonly types: readonly string[];
  readonly payloads: readonly string[];
}

function toEventArrays(all: readonly EventsOfStream[]): EventArrays {
  return {
    streams: all.map(({ stream }) => stream),
    counts: all.map(({ count }) => count),
    beginnings: all.map(({ at }) => at),
    owners: all.flatMap(({ stream, types }) => types.map(() => stream)),
    ats: all.flatMap(({ at, types }) => types.map(() => at)),
    fromEnds: all.flatMap(({ count, types }) => types.map((_type, index) => count - index)),
    types: all.flatMap(({ types }) => types),
    payloads: all.flatMap(({ payloads }) => payloads),
  };
}

function numberAndInsertSeveral(
  _db: Kysely<Tables>,
  { streams, counts, beginnings, owners, ats, fromEnds, types, payloads }: Params<EventArrays>,
): RawBuilder<unknown> {
  return sql`
    with numbered as (
      insert into streams (id, next_seq, swept_seq, oldest_at)
      select own.stream, own.count + 1, 0, own.at
      from unnest(${streams}::text[], ${counts}::bigint[], ${beginnings}::bigint[]) as own(stream, count, at)
      on conflict (id) do update set next_seq = streams.next_seq + excluded.next_seq - 1,
        oldest_at = coalesce(streams.oldest_at, excluded.oldest_at)
      returning id, next_seq
    )
    insert into stream_events (stream, seq, type, payload, created_at, revocations)
    select numbered.id, numbered.next_seq - new_event.from_end, new_event.type, new_event.payload,
      new_event.at, coalesce((select next_seq - 1 from streams where id = ${REVOCATIONS}), 0)
    from unnest(${owners}::text[], ${ats}::bigint[], ${fromEnds}::bigint[], ${types}::text[], ${payloads}::text[])
      as new_event(stream, at, from_end, type, payload)
    inner join numbered on numbered.id = new_event.stream
    returning array_position(${streams}::text[], stream) as place, seq, revocations`;
}

/**
 * The same for SQLite, which has no arrays and cannot insert into two tables at once. No other transaction writes in
 * between. A separate statement reads the numbers, because `returning` takes longer.
 */
function sendByEvent(tx: Tx, streams: readonly EventsOfStream[]): () => Written {
  const sent = streams.map(({ at, stream, count, types, payloads }) => {
    const answer = tx.send(readNumbers, { stream });
    for (const [index, type] of types.entries())
      tx.send(insertEvent, { stream, index, type, payload: payloads[index] ?? '', at });
    tx.send(raiseNumber, { stream, count, at });
    return { stream, count, answer };
  });
  return () => {
    const nextSeqs = sent.map(
      ({ stream, count, answer }) => [stream, (answer.rows[0]?.seq ?? Number.NaN) + count] as const,
    );
    return { nextSeqs: new Map(nextSeqs), revocations: sent[0]?.answer.rows[0]?.revocations ?? 0 };
  };
}

const nextSeq = (stream: Param<string>): RawBuilder<number> =>
  sql`coalesce((select next_seq from streams where id = ${stream}), 1)`;
const REVOKED_KEYS: RawBuilder<number> = sql`coalesce((select next_seq - 1 from streams where id = ${REVOCATIONS}), 0)`;

const readNumbers = statement(
  (_db, { stream }: Params<{ stream: string }>) =>
    sql<{ seq: number; revocations: number }>`select ${nextSeq(stream)} as seq, ${REVOKED_KEYS} as revocations`,
);

interface EventValues {
  readonly stream: string;
  readonly index: number;
  readonly type: string;
  readonly payload: string;
  readonly at: number;
}

const insertEvent = statement(
  (_db, { stream, index, type, payload, at }: Params<EventValues>) => sql`
    insert into stream_events (stream, seq, type, payload, created_at, revocations)
    values (${stream}, ${nextSeq(stream)} + ${index}, ${type}, ${payload}, ${at}, ${REVOKED_KEYS})`,
);

const raiseNumber = statement((db, { stream, count, at }: Params<{ stream: string; count: number; at: number }>) =>
  db
    .insertInto('streams')
    .values({ id: stream, next_seq: sql`${count} + 1`, swept_seq: 0, oldest_at: at })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        next_seq: eb('streams.next_seq', '+', count),
        oldest_at: eb.fn.coalesce('streams.oldest_at', 'excluded.oldest_at'),
      })),
    ),
);
