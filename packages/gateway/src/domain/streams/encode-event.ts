import type { StreamEvent } from '../../ports/bus/bus.ts';

const encoder = new TextEncoder();
const encoded = new WeakMap<StreamEvent, Uint8Array>();

/** An event as bytes of `text/event-stream`. Made once, and shared by all who read it: an event may be megabytes, and readers many. */
export function encodeEvent(event: StreamEvent): Uint8Array {
  const known = encoded.get(event);
  if (known !== undefined) return known;
  const { seq, type, at, payload } = event;
  const own = { seq, type, at };
  const bytes = frame({ id: seq, event: type, data: { ...own, ...(payload as object), ...own } });
  encoded.set(event, bytes);
  return bytes;
}

/** Tells a client that what it missed is gone: it has to load again. */
export function encodeReset(seq: number): Uint8Array {
  return frame({ id: seq, event: 'reset', data: { seq, type: 'reset' } });
}

/**
 * What a stream begins with: where it stands, as an id without data, which clients keep and show to nobody. One that loses its
 * connection before the first event would otherwise come back without an id, and miss what happened meanwhile.
 */
export function encodeStart(seq: number): Uint8Array {
  return encoder.encode(`retry: 1000\nid: ${seq}\n\n`);
}

export const HEARTBEAT: Uint8Array = encoder.encode(': \n\n');

// JSON text has no line breaks, so data is always one line.
function frame({ id, event, data }: { id: number; event: string; data: unknown }): Uint8Array {
  return encoder.encode(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}
