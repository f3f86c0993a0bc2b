import { sql } from 'kysely';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import { storedEvent } from '../../ports/bus/stored-event.ts';
import type { Services } from '../../ports/services.ts';
import { toJson } from '../../ports/store/json.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Json } from '../../ports/store/tables.ts';

/** The payload is a value, or the JSON text of one. */
type NewStreamEvent = { readonly channel: string; readonly type: string } & (
  | { readonly payload: unknown }
  | { readonly json: Json }
);

interface SerializedEvent {
  readonly channel: string;
  readonly type: string;
  readonly json: Json;
}

const eventsOfTransaction = new WeakMap<Tx, SerializedEvent[]>();

export const spaceChannel = (spaceId: string): string => `space:${spaceId}`;
export const runChannel = (runId: string): string => `run:${runId}`;
/** The channel of revoked keys, for gateways only. Its numbers count them. */
export const REVOCATIONS = 'revocations';

/**
 * Emits an event on a channel. It is stored with the transaction, numbered at its end, and published after the commit.
 */
export function emit({ bus }: Pick<Services, 'bus'>, tx: Tx, newEvent: NewStreamEvent): void {
  // Serialized now, so that a payload that is not JSON is refused here: at the end of the transaction only the database
  // may fail.
  const { channel, type } = newEvent;
  const event = { channel, type, json: 'json' in newEvent ? newEvent.json : toJson(newEvent.payload) };
  const known = eventsOfTransaction.get(tx);
  if (known !== undefined) {
    known.push(event);
    return;
  }
  const events = [event];
  eventsOfTransaction.set(tx, events);
  tx.beforeCommit(async () => {
    const written = await write(tx, events);
    tx.afterCommit(() => bus.publish(written()));
  });
}

/**
 * Numbers are drawn last, and channels in the order of their names. A channel's row stays locked until the commit, so
 * readers see its events in order and without gaps, and two transactions never wait for each other. The numbers may be
 * known only after the commit: then the returned function gives the events.
 */
async function write(tx: Tx, events: readonly SerializedEvent[]): Promise<() => StreamEvent[]> {
  const at = tx.now();
  const numbered = numberWithin(events);
  const written =
    tx.dialect === 'postgres' ? writeInOneStatement(tx, numbered, at) : await writeInSeveral(tx, numbered, at);
  return () => {
    const { nextSeqs, revocations } = written();
    return numbered.map(({ fromEnd, ...event }) =>
      storedEvent({ ...event, seq: (nextSeqs.get(event.channel) ?? Number.NaN) - fromEnd, at, revocations }),
    );
  };
}

/** An event, and its place among those of its channel, counted from the last, which is 1. */
interface NumberedEvent extends SerializedEvent {
  readonly fromEnd: number;
}

/** Puts the channels in order, and keeps the order within each. */
function numberWithin(events: readonly SerializedEvent[]): NumberedEvent[] {
  const byChannel = [...Map.groupBy(events, ({ channel }) => channel)].sort(([one], [other]) => (one < other ? -1 : 1));
  return byChannel.flatMap(([, batch]) => batch.map((event, place) => ({ ...event, fromEnd: batch.length - place })));
}

/** The database's answer: the number after the last of each channel, and how many keys had been revoked. */
interface Written {
  readonly nextSeqs: ReadonlyMap<string, number>;
  readonly revocations: number;
}

/** Draws the numbers of all channels and writes the events in one statement. */
function writeInOneStatement(tx: Tx, events: readonly NumberedEvent[], at: number): () => Written {
  // The first of its channel says how many there are.
  const firsts = events.filter(({ channel }, place) => channel !== events[place - 1]?.channel);
  const sent = tx.send(numberAndInsert, {
    at,
    ids: firsts.map(({ channel }) => channel),
    counts: firsts.map(({ fromEnd }) => fromEnd),
    channels: events.map(({ channel }) => channel),
    fromEnds: events.map(({ fromEnd }) => fromEnd),
    types: events.map(({ type }) => type),
    payloads: events.map(({ json }) => json),
  });
  return () => ({
    nextSeqs: new Map(sent.rows.map(({ channel, next_seq }) => [channel, next_seq])),
    revocations: sent.rows[0]?.revocations ?? 0,
  });
}

interface AllEvents {
  readonly at: number;
  readonly ids: readonly string[];
  readonly counts: readonly number[];
  readonly channels: readonly string[];
  readonly fromEnds: readonly number[];
  readonly types: readonly string[];
  readonly payloads: readonly string[];
}

const numberAndInsert = statement(
  (_db, { at, ids, counts, channels, fromEnds, types, payloads }: Params<AllEvents>) =>
    sql<{ channel: string; next_seq: number; revocations: number }>`
      with numbered as (
        insert into channels (id, next_seq, swept_seq)
        select id, count + 1, 0 from unnest(${ids}::text[], ${counts}::int[]) as batch(id, count)
        on conflict (id) do update set next_seq = channels.next_seq + excluded.next_seq - 1
        returning id as channel, next_seq
      ), revoked as (
        select coalesce((select next_seq - 1 from channels where id = ${REVOCATIONS}), 0) as revocations
      ), inserted as (
        insert into stream_events (channel, seq, type, payload, created_at, revocations)
        select channel, next_seq - from_end, type, payload, ${at}::bigint, revocations
        from unnest(${channels}::text[], ${fromEnds}::int[], ${types}::text[], ${payloads}::text[])
          as new_event(channel, from_end, type, payload)
        join numbered using (channel), revoked
      )
      select channel, next_seq, revocations from numbered, revoked`,
);

/** The same in several statements, for SQLite. */
async function writeInSeveral(tx: Tx, events: readonly NumberedEvent[], at: number): Promise<() => Written> {
  const revocations = ((await countRevocations(tx.db, {}))[0]?.next_seq ?? 1) - 1;
  const nextSeqs = new Map<string, number>();
  for (const { channel, type, json, fromEnd } of events) {
    if (!nextSeqs.has(channel)) {
      const [drawn] = await drawNumbers(tx.db, { channel, count: fromEnd });
      nextSeqs.set(channel, drawn?.next_seq ?? Number.NaN);
    }
    const seq = (nextSeqs.get(channel) ?? Number.NaN) - fromEnd;
    tx.send(insertEvent, { channel, seq, type, payload: json, at, revocations });
  }
  return () => ({ nextSeqs, revocations });
}

/** Draws `count` numbers of the channel. */
const drawNumbers = statement((db, { channel, count }: Params<{ channel: string; count: number }>) =>
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
