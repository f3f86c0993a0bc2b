import type { StreamEvent } from '../bus/bus.ts';
import type { Services } from '../services.ts';
import { inParts } from '../store/in-parts.ts';
import { toJson } from '../store/json.ts';
import type { Tx } from '../store/store.ts';

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
  const written: StreamEvent[] = [];
  for (const channel of [...byChannel.keys()].sort()) {
    const own = byChannel.get(channel) ?? [];
    const first = await draw(tx, channel, own.length);
    own.forEach(({ type, payload }, index) => {
      written.push({ channel, seq: first + index, type, payload, at });
    });
  }
  const rows = written.map(({ channel, seq, type, payload }) => ({
    channel,
    seq,
    type,
    payload: toJson(payload),
    created_at: at,
  }));
  for (const part of inParts(rows)) await tx.db.insertInto('stream_events').values(part).execute();
  return written;
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
