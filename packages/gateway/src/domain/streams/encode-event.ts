import type { StreamEvent } from '../../ports/bus/bus.ts';
import { toJson, withJsonFields } from '../../ports/store/schema/json.ts';
import type { Json } from '../../ports/store/schema/tables.ts';

const encoder = new TextEncoder();
const encoded = new WeakMap<StreamEvent, Uint8Array>();

/**
 * Encodes an event for `text/event-stream`. This is done once and shared by all readers: an event may be megabytes large, and
 * there may be many readers.
 */
export function encodeEvent(event: StreamEvent): Uint8Array {
  const known = encoded.get(event);
  if (known !== undefined) return known;
  const { seq, type, json = toJson(event.payload) } = event;
  const bytes = frame({ id: seq, event: type, data: toData(event, json) });
  encoded.set(event, bytes);
  return bytes;
}

/** The payload's fields, followed by the event's own fields: if a name occurs twice, the last one counts. */
function toData({ seq, type, at }: StreamEvent, json: Json): Json {
  return withJsonFields(json.startsWith('{') ? json : '{}', { seq: toJson(seq), type: toJson(type), at: toJson(at) });
}

/** Encodes events that are not stored: they have no number, so a client's position does not change. */
export function encodeUnnumbered(events: readonly { readonly type: string; readonly payload: object }[]): Uint8Array {
  const frames = events.map(({ type, payload }) => `event: ${type}\ndata: ${toJson({ ...payload, type })}\n\n`);
  return encoder.encode(frames.join(''));
}

/** Encodes the last event that a client gets. It is not stored. */
export function encodeLast({
  type,
  payload,
}: {
  readonly type: string;
  readonly payload: object;
}): Uint8Array<ArrayBuffer> {
  return encoder.encode(`event: ${type}\ndata: ${toJson(payload)}\n\n`);
}

/** Tells a client that the events it missed are deleted, and that it has to load everything again. */
export function encodeReset(seq: number): Uint8Array {
  return frame({ id: seq, event: 'reset', data: toJson({ seq, type: 'reset' }) });
}

/**
 * The start of a stream: an id without data, which clients remember and do not show. Without it, a client that loses its
 * connection before the first event would reconnect without an id and miss the events in between.
 */
export function encodeStart(seq: number): Uint8Array {
  return encoder.encode(`retry: 1000\nid: ${seq}\n\n`);
}

export const HEARTBEAT: Uint8Array = encoder.encode(': \n\n');

// JSON text has no line breaks, so the data is always one line.
function frame({ id, event, data }: { id: number; event: string; data: Json }): Uint8Array {
  return encoder.encode(`id: ${id}\nevent: ${event}\ndata: ${data}\n\n`);
}
