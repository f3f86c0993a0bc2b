import { sql } from 'kysely';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import { storedEvent } from '../../ports/bus/stored-event.ts';
import type { Services } from '../../ports/services.ts';
import { toJson } from '../../ports/store/json.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
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
  const byChannel = Map.groupBy(events, ({ channel }) => channel);
  const writeOne = tx.dialect === 'postgres' ? writeInOneStatement : writeInSeveral;
  const written: (() => StreamEvent[])[] = [];
  for (const channel of [...byChannel.keys()].sort()) {
    const batch = byChannel.get(channel) ?? [];
    const numbered = await writeOne(tx, { channel, at, events: batch.map(toRow) });
    written.push(() => toStreamEvents(batch, numbered(), at));
  }
  return () => written.flatMap((ofOne) => ofOne());
}

function toStreamEvents(
  batch: readonly SerializedEvent[],
  { first, revocations }: Numbered,
  at: number,
): StreamEvent[] {
  return batch.map((event, place) => storedEvent({ ...event, seq: first + place, at, revocations }));
}

/** The database's answer for a batch: its first number, and how many keys had been revoked. */
interface Numbered {
  readonly first: number;
  readonly revocations: number;
}

/** The events of one channel. */
interface Batch {
  readonly channel: string;
  readonly at: number;
  readonly events: readonly { readonly type: string; readonly payload: string }[];
}

function toRow({ type, json }: SerializedEvent): Batch['events'][number] {
  return { type, payload: json };
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
