import type { StreamEvent } from '../../ports/bus/bus.ts';
import { storedEvent } from '../../ports/bus/stored-event.ts';
import type { Services } from '../../ports/services.ts';
import { appendStreamEvents, type NumberedEvent } from '../../ports/store/append-stream-events.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { Json } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';

/** The payload is a value, or its JSON text. */
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
/** The channel for the jobs of an agent's `external` tools. */
export const jobsChannel = (agentId: string): string => `jobs:${agentId}`;

/**
 * Emits an event on a channel. It is stored with the transaction, numbered at its end, and published after the commit.
 */
export function emit({ bus }: Pick<Services, 'bus'>, tx: Tx, newEvent: NewStreamEvent): void {
  // Serialized now, so that a payload that is not JSON is refused here: at the end of the transaction only the database may fail.
  const { channel, type } = newEvent;
  const event = { channel, type, json: 'json' in newEvent ? newEvent.json : toJson(newEvent.payload) };
  const known = eventsOfTransaction.get(tx);
  if (known !== undefined) {
    known.push(event);
    return;
  }
  const events = [event];
  eventsOfTransaction.set(tx, events);
  tx.beforeCommit(() => {
    const written = write(tx, events);
    tx.afterCommit(() => bus.publish(written()));
  });
}

/**
 * Numbers are assigned last, and channels are locked in the order of their names. A channel's row stays locked until the commit,
 * so readers see its events in order and without gaps, and two transactions never wait for each other. The numbers may be known
 * only after the commit: the returned function then returns the events.
 */
function write(tx: Tx, events: readonly SerializedEvent[]): () => StreamEvent[] {
  const at = tx.now();
  const numbered = numberWithin(events);
  const written = appendStreamEvents(tx, numbered, at);
  return () => {
    const { nextSeqs, revocations } = written();
    return numbered.map(({ channel, type, json, fromEnd }) =>
      storedEvent({ channel, type, json, seq: (nextSeqs.get(channel) ?? Number.NaN) - fromEnd, at, revocations }),
    );
  };
}

/** Sorts the events by channel, and keeps the order within each. */
function numberWithin(events: readonly SerializedEvent[]): NumberedEvent[] {
  const sorted = events.toSorted((one, other) =>
    one.channel < other.channel ? -1 : one.channel > other.channel ? 1 : 0,
  );
  const numbered: NumberedEvent[] = [];
  for (const { channel, type, json } of sorted.reverse()) {
    const next = numbered.at(-1);
    numbered.push({ channel, type, json, fromEnd: next?.channel === channel ? next.fromEnd + 1 : 1 });
  }
  return numbered.reverse();
}
