import { sql } from 'kysely';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import type { Services } from '../../ports/services.ts';
import { toJson } from '../../ports/store/json.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';

interface Emitted {
  readonly channel: string;
  readonly type: string;
  readonly payload: unknown;
}

interface Written extends Emitted {
  /** The payload as it is stored. */
  readonly text: string;
}

const emitted = new WeakMap<Tx, Written[]>();

export const spaceChannel = (spaceId: string): string => `space:${spaceId}`;
export const runChannel = (runId: string): string => `run:${runId}`;
/** Where revoked keys are told of, to gateways only: its numbers count them. */
export const REVOCATIONS = 'revocations';

/** Leaves an event on a channel: durable with the transaction, numbered at its end, and told to readers after it. */
export function emit({ bus }: Pick<Services, 'bus'>, tx: Tx, given: Emitted): void {
  // As it is now, and refused now if it is no JSON: at the end of the transaction nothing may fail but the database.
  const event = { ...given, text: toJson(given.payload) };
  const known = emitted.get(tx);
  if (known !== undefined) {
    known.push(event);
    return;
  }
  const events = [event];
  emitted.set(tx, events);
  tx.beforeCommit(async () => {
    const written = await write(tx, events);
    tx.afterCommit(() => bus.publish(written()));
  });
}

/**
 * Numbers are drawn last, and channels in the order of their names: the row of a channel stays locked until the commit, so that
 * readers see its events in order and without gaps, and two transactions never wait for each other. Gives the events with their
 * numbers, which may be known only after the commit.
 */
async function write(tx: Tx, events: readonly Written[]): Promise<() => StreamEvent[]> {
  const at = tx.now();
  const byChannel = Map.groupBy(events, ({ channel }) => channel);
  const writeOne = tx.dialect === 'postgres' ? writeAtOnce : writeInTwo;
  const written: (() => StreamEvent[])[] = [];
  for (const channel of [...byChannel.keys()].sort()) {
    const batch = byChannel.get(channel) ?? [];
    const numbered = await writeOne(tx, { channel, at, events: batch.map(toRow) });
    written.push(() => toStreamEvents(batch, numbered(), at));
  }
  return () => written.flatMap((ofOne) => ofOne());
}

function toStreamEvents(batch: readonly Written[], { first, revocations }: Numbered, at: number): StreamEvent[] {
  return batch.map(({ channel, type, payload }, place) => ({
    channel,
    seq: first + place,
    type,
    payload,
    at,
    revocations,
  }));
}

/** What the database said of a batch: its first number, and how many keys were revoked by then. */
interface Numbered {
  readonly first: number;
  readonly revocations: number;
}

/** The events of one channel, to be numbered. */
interface Batch {
  readonly channel: string;
  readonly at: number;
  readonly events: readonly { readonly type: string; readonly payload: string }[];
}

function toRow({ type, text }: Written): Batch['events'][number] {
  return { type, payload: text };
}

/** Draws the numbers and writes the events in one statement. */
function writeAtOnce(tx: Tx, { channel, at, events }: Batch): () => Numbered {
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
    select ${channel}, numbered.first + given.place - 1, given.type, given.payload, ${at}::bigint,
      coalesce((select next_seq - 1 from channels where id = ${REVOCATIONS}), 0)
    from numbered, unnest(${types}::text[], ${payloads}::text[]) with ordinality as given(type, payload, place)
    returning seq, revocations`,
);

/** The same where a statement cannot do both. */
async function writeInTwo(tx: Tx, { channel, at, events }: Batch): Promise<() => Numbered> {
  const [[drawn], [revoked]] = await pipeline(
    draw(tx.db, { channel, count: events.length }),
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

/** So many numbers of the channel. */
const draw = statement((db, { channel, count }: Params<Pick<BatchValues, 'channel' | 'count'>>) =>
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
