import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from './schema/tables.ts';
import { type Params, statement } from './statement.ts';
import type { Tx } from './store.ts';

/** The channel of revoked keys, which only gateways read. Its sequence number is the number of revoked keys. */
export const REVOCATIONS = 'revocations';

/** An event to write, and its position in its channel, counted back from the last event, which is 1. */
export interface NumberedEvent {
  readonly channel: string;
  readonly type: string;
  readonly json: string;
  readonly fromEnd: number;
}

/**
 * Allocates the numbers of the events and inserts them. The events are ordered by channel, whose rows stay locked until
 * the commit. The numbers may be known only after the commit, so they are returned by a function.
 */
export function appendStreamEvents(tx: Tx, events: readonly NumberedEvent[], at: number): () => Written {
  return tx.dialect === 'postgres' ? writeByChannel(tx, events, at) : writeInSeveral(tx, events, at);
}

/** The database's answer: the next number of each channel, and how many keys had been revoked. */
export interface Written {
  readonly nextSeqs: ReadonlyMap<string, number>;
  readonly revocations: number;
}

/**
 * Runs one statement per channel. A single statement for all channels takes twice as long as this one, and most
 * transactions have one channel.
 */
function writeByChannel(tx: Tx, events: readonly NumberedEvent[], at: number): () => Written {
  const sent = [...Map.groupBy(events, ({ channel }) => channel)].map(([channel, own]) => {
    const values = { at, channel, count: own.length, types: own.map(({ type }) => type) };
    return { channel, answer: tx.send(numberAndInsert, { ...values, payloads: own.map(({ json }) => json) }) };
  });
  return () => {
    const nextSeqs = new Map(sent.map(({ channel, answer }) => [channel, afterLast(answer.rows)]));
    return { nextSeqs, revocations: sent[0]?.answer.rows[0]?.revocations ?? 0 };
  };
}

function afterLast(written: readonly { readonly seq: number }[]): number {
  return Math.max(...written.map(({ seq }) => seq)) + 1;
}

interface ChannelEvents {
  readonly at: number;
  readonly channel: string;
  readonly count: number;
  readonly types: readonly string[];
  readonly payloads: readonly string[];
}

const numberAndInsert = statement(
  (_db, { at, channel, count, types, payloads }: Params<ChannelEvents>) =>
    sql<{ seq: number; revocations: number }>`
      with numbered as (
        insert into channels (id, next_seq, swept_seq, oldest_at) values (${channel}, ${count}::bigint + 1, 0, ${at}::bigint)
        on conflict (id) do update set next_seq = channels.next_seq + excluded.next_seq - 1,
          oldest_at = coalesce(channels.oldest_at, excluded.oldest_at)
        returning next_seq
      )
      insert into stream_events (channel, seq, type, payload, created_at, revocations)
      select ${channel}, numbered.next_seq - ${count}::bigint + new_event.place - 1, new_event.type, new_event.payload,
        ${at}::bigint, coalesce((select next_seq - 1 from channels where id = ${REVOCATIONS}), 0)
      from numbered, unnest(${types}::text[], ${payloads}::text[]) with ordinality as new_event(type, payload, place)
      returning seq, revocations`,
  { key: 'channel', isLast: true, toValues: toEventArrays, build: numberAndInsertSeveral },
);

/** The events of several channels, grouped by channel. */
interface EventArrays {
  readonly channels: readonly string[];
  readonly counts: readonly number[];
  readonly beginnings: readonly number[];
  /** One element per event, as in the arrays below. */
  readonly owners: readonly string[];
  readonly ats: readonly number[];
  /** The position counted back from the last event of its channel, which is 1. */
  readonly fromEnds: readonly number[];
  readonly types: readonly string[];
  readonly payloads: readonly string[];
}

function toEventArrays(all: readonly ChannelEvents[]): EventArrays {
  return {
    channels: all.map(({ channel }) => channel),
    counts: all.map(({ count }) => count),
    beginnings: all.map(({ at }) => at),
    owners: all.flatMap(({ channel, types }) => types.map(() => channel)),
    ats: all.flatMap(({ at, types }) => types.map(() => at)),
    fromEnds: all.flatMap(({ count, types }) => types.map((_type, index) => count - index)),
    types: all.flatMap(({ types }) => types),
    payloads: all.flatMap(({ payloads }) => payloads),
  };
}

function numberAndInsertSeveral(
  _db: Kysely<Tables>,
  { channels, counts, beginnings, owners, ats, fromEnds, types, payloads }: Params<EventArrays>,
): RawBuilder<unknown> {
  return sql`
    with numbered as (
      insert into channels (id, next_seq, swept_seq, oldest_at)
      select own.channel, own.count + 1, 0, own.at
      from unnest(${channels}::text[], ${counts}::bigint[], ${beginnings}::bigint[]) as own(channel, count, at)
      on conflict (id) do update set next_seq = channels.next_seq + excluded.next_seq - 1,
        oldest_at = coalesce(channels.oldest_at, excluded.oldest_at)
      returning id, next_seq
    )
    insert into stream_events (channel, seq, type, payload, created_at, revocations)
    select numbered.id, numbered.next_seq - new_event.from_end, new_event.type, new_event.payload,
      new_event.at, coalesce((select next_seq - 1 from channels where id = ${REVOCATIONS}), 0)
    from unnest(${owners}::text[], ${ats}::bigint[], ${fromEnds}::bigint[], ${types}::text[], ${payloads}::text[])
      as new_event(channel, at, from_end, type, payload)
    inner join numbered on numbered.id = new_event.channel
    returning array_position(${channels}::text[], channel) as place, seq, revocations`;
}

/** The same for SQLite, in several statements. */
function writeInSeveral(tx: Tx, events: readonly NumberedEvent[], at: number): () => Written {
  const revocations = (tx.runNow(countRevocations, {})[0]?.next_seq ?? 1) - 1;
  const nextSeqs = new Map<string, number>();
  for (const { channel, type, json, fromEnd } of events) {
    if (!nextSeqs.has(channel)) {
      const [drawn] = tx.runNow(drawNumbers, { channel, count: fromEnd, at });
      nextSeqs.set(channel, drawn?.next_seq ?? Number.NaN);
    }
    const seq = (nextSeqs.get(channel) ?? Number.NaN) - fromEnd;
    tx.send(insertEvent, { channel, seq, type, payload: json, at, revocations });
  }
  return () => ({ nextSeqs, revocations });
}

/** Allocates `count` numbers of the channel. */
const drawNumbers = statement((db, { channel, count, at }: Params<{ channel: string; count: number; at: number }>) =>
  db
    .insertInto('channels')
    .values({ id: channel, next_seq: sql`${count} + 1`, swept_seq: 0, oldest_at: at })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        next_seq: eb('channels.next_seq', '+', count),
        oldest_at: eb.fn.coalesce('channels.oldest_at', 'excluded.oldest_at'),
      })),
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
