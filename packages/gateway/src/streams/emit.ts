import { sql } from 'kysely';
import type { StreamEvent } from '../bus/bus.ts';
import type { Services } from '../services.ts';
import { inParts } from '../store/in-parts.ts';
import { toJson } from '../store/json.ts';
import type { Tx } from '../store/store.ts';
import { together } from '../store/together.ts';

interface Emitted {
  readonly channel: string;
  readonly type: string;
  readonly payload: unknown;
}

const emitted = new WeakMap<Tx, Emitted[]>();

export const spaceChannel = (spaceId: string): string => `space:${spaceId}`;
export const runChannel = (runId: string): string => `run:${runId}`;

/** Leaves an event on a channel: durable with the transaction, numbered at its end, and told to readers after it. */
export function emit({ bus }: Pick<Services, 'bus'>, tx: Tx, event: Emitted): void {
  const known = emitted.get(tx);
  if (known !== undefined) {
    known.push(event);
    return;
  }
  const events = [event];
  emitted.set(tx, events);
  tx.beforeCommit(async () => {
    const written = await write(tx, events);
    tx.afterCommit(() => bus.publish(written));
  });
}

/**
 * Numbers are drawn last, and channels in the order of their names: the row of a channel stays locked until the commit, so that
 * readers see its events in order and without gaps, and two transactions never wait for each other.
 */
async function write(tx: Tx, events: readonly Emitted[]): Promise<StreamEvent[]> {
  const at = tx.now();
  const byChannel = Map.groupBy(events, ({ channel }) => channel);
  const channels = [...byChannel.keys()].sort();
  const writeOne = tx.dialect === 'postgres' ? writeAtOnce : writeInTwo;
  const firsts = await together(
    ...channels.map((channel) => writeOne(tx, { channel, at, events: (byChannel.get(channel) ?? []).map(toRow) })),
  );
  return channels.flatMap((channel, index) =>
    (byChannel.get(channel) ?? []).map(({ type, payload }, place) => ({
      channel,
      seq: (firsts[index] as number) + place,
      type,
      payload,
      at,
    })),
  );
}

/** The events of one channel, to be numbered. */
interface Batch {
  readonly channel: string;
  readonly at: number;
  readonly events: readonly { readonly type: string; readonly payload: string }[];
}

function toRow({ type, payload }: Emitted): Batch['events'][number] {
  return { type, payload: toJson(payload) };
}

/** Draws the numbers and writes the events in one statement. Gives the first number. */
async function writeAtOnce(tx: Tx, { channel, at, events }: Batch): Promise<number> {
  const count = events.length;
  const { rows } = await sql<{ seq: number }>`
    with numbered as (
      insert into channels (id, next_seq, swept_seq) values (${channel}, ${count + 1}, 0)
      on conflict (id) do update set next_seq = channels.next_seq + ${count}
      returning next_seq - ${count} as first
    )
    insert into stream_events (channel, seq, type, payload, created_at)
    select ${channel}, numbered.first + given.place - 1, given.type, given.payload, ${at}
    from numbered, unnest(${events.map(({ type }) => type)}::text[], ${events.map(({ payload }) => payload)}::text[])
      with ordinality as given(type, payload, place)
    returning seq`.execute(tx.db);
  return Math.min(...rows.map(({ seq }) => seq));
}

/** The same where a statement cannot do both. */
async function writeInTwo(tx: Tx, { channel, at, events }: Batch): Promise<number> {
  const first = await draw(tx, channel, events.length);
  const rows = events.map((event, place) => ({ channel, seq: first + place, ...event, created_at: at }));
  for (const part of inParts(rows)) await tx.db.insertInto('stream_events').values(part).execute();
  return first;
}

/** The first of so many numbers of the channel. */
async function draw(tx: Tx, channel: string, count: number): Promise<number> {
  const { next_seq } = await tx.db
    .insertInto('channels')
    .values({ id: channel, next_seq: count + 1, swept_seq: 0 })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({ next_seq: eb('channels.next_seq', '+', count) })),
    )
    .returning('next_seq')
    .executeTakeFirstOrThrow();
  return next_seq - count;
}
