import type { StreamEvent } from '../../ports/bus/bus.ts';
import type { Services } from '../../ports/services.ts';
import { appendStreamEvents, type Batch, type Numbered } from '../../ports/store/append-stream-events.ts';
import { toJson } from '../../ports/store/json.ts';
import type { Tx } from '../../ports/store/store.ts';

interface NewStreamEvent {
  readonly channel: string;
  readonly type: string;
  readonly payload: unknown;
}

interface SerializedEvent extends NewStreamEvent {
  /** The payload as it is stored. */
  readonly text: string;
}

const eventsOfTransaction = new WeakMap<Tx, SerializedEvent[]>();

export const spaceChannel = (spaceId: string): string => `space:${spaceId}`;
export const runChannel = (runId: string): string => `run:${runId}`;

/**
 * Emits an event on a channel. It is stored with the transaction, numbered at its end, and published after the commit.
 */
export function emit({ bus }: Pick<Services, 'bus'>, tx: Tx, newEvent: NewStreamEvent): void {
  // Serialized now, so that a payload that is not JSON is refused here: at the end of the transaction only the database
  // may fail.
  const event = { ...newEvent, text: toJson(newEvent.payload) };
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
  const written: (() => StreamEvent[])[] = [];
  for (const channel of [...byChannel.keys()].sort()) {
    const batch = byChannel.get(channel) ?? [];
    const numbered = await appendStreamEvents(tx, { channel, at, events: batch.map(toRow) });
    written.push(() => toStreamEvents(batch, numbered(), at));
  }
  return () => written.flatMap((ofOne) => ofOne());
}

function toStreamEvents(
  batch: readonly SerializedEvent[],
  { first, revocations }: Numbered,
  at: number,
): StreamEvent[] {
  return batch.map(({ channel, type, payload }, place) => ({
    channel,
    seq: first + place,
    type,
    payload,
    at,
    revocations,
  }));
}

function toRow({ type, text }: SerializedEvent): Batch['events'][number] {
  return { type, payload: text };
}
