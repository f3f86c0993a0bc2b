import type { NewStreamEvent, StreamEvent } from '../bus/bus.ts';
import { storedEvent } from '../bus/stored-event.ts';
import { appendStreamEvents, type NumberedEvent } from './append-stream-events.ts';
import { toJson } from './schema/json.ts';
import type { Json } from './schema/tables.ts';
import type { Tx } from './store.ts';

/** An event that a transaction emitted and has not written yet. */
export interface EmittedEvent {
  readonly channel: string;
  readonly type: string;
  readonly json: Json;
}

/**
 * Serializes the event when it is emitted, so that a payload that is not JSON is refused there: at the end of the
 * transaction only the database may fail.
 */
export function toEmittedEvent(event: NewStreamEvent): EmittedEvent {
  const { channel, type } = event;
  return { channel, type, json: 'json' in event ? event.json : toJson(event.payload) };
}

/**
 * Writes the events of a transaction at its end. Numbers are assigned last, and channels are locked in the order of
 * their names. A channel's row stays locked until the commit, so readers see its events in order and without gaps, and
 * two transactions never wait for each other. The numbers may be known only after the commit: the returned function
 * then returns the events.
 */
export function writeEmittedEvents(tx: Tx, events: readonly EmittedEvent[]): () => StreamEvent[] {
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
function numberWithin(events: readonly EmittedEvent[]): NumberedEvent[] {
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
