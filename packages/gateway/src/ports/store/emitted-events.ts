import type { NewStreamEvent, StreamEvent } from '../bus/bus.ts';
import { storedEvent } from '../bus/stored-event.ts';
import { appendStreamEvents, type NumberedEvent } from './append-stream-events.ts';
import { toJson } from './schema/json.ts';
import type { Json } from './schema/tables.ts';
import type { Tx } from './store.ts';

/** An event that a transaction emitted and has not written yet. */
export interface EmittedEvent {
  readonly stream: string;
  readonly type: string;
  readonly json: Json;
}

/**
 * Serializes the event when it is emitted, so that a payload that is not JSON is refused there: at the end of the
 * transaction only the database may fail.
 */
export function toEmittedEvent(event: NewStreamEvent): EmittedEvent {
  const { stream, type } = event;
  return { stream, type, json: 'json' in event ? event.json : toJson(event.payload) };
}

/**
 * Writes the events of a transaction at its end. Numbers are assigned last, and streams are locked in the order of
 * their names. A stream's row stays locked until the commit, so readers see its events in order and without gaps, and
 * two transactions never wait for each other. The numbers may be known only after the commit: the returned function
 * then returns the events.
 */
export function writeEmittedEvents(tx: Tx, events: readonly EmittedEvent[]): () => StreamEvent[] {
  const at = tx.now();
  const numbered = numberWithin(events);
  const written = appendStreamEvents(tx, numbered, at);
  return () => {
    const { nextSeqs, revocations } = written();
    return numbered.map(({ stream, type, json, fromEnd }) =>
      storedEvent({ stream, type, json, seq: (nextSeqs.get(stream) ?? Number.NaN) - fromEnd, at, revocations }),
    );
  };
}

/** Sorts the events by stream, and keeps the order within each. */
function numberWithin(events: readonly EmittedEvent[]): NumberedEvent[] {
  const sorted = events.toSorted((one, other) => (one.stream < other.stream ? -1 : one.stream > other.stream ? 1 : 0));
  const numbered: NumberedEvent[] = [];
  for (const { stream, type, json } of sorted.reverse()) {
    const next = numbered.at(-1);
    numbered.push({ stream, type, json, fromEnd: next?.stream === stream ? next.fromEnd + 1 : 1 });
  }
  return numbered.reverse();
}
