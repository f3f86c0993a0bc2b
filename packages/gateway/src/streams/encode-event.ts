import type { StreamEvent } from '../bus/bus.ts';

const encoded = new WeakMap<StreamEvent, string>();

/** An event as text of `text/event-stream`. Made once, however many read the channel. */
export function encodeEvent(event: StreamEvent): string {
  const known = encoded.get(event);
  if (known !== undefined) return known;
  const { seq, type, at, payload } = event;
  const own = { seq, type, at };
  const text = frame({ id: seq, event: type, data: { ...own, ...(payload as object), ...own } });
  encoded.set(event, text);
  return text;
}

/** Tells a client that what it missed is gone: it has to load again. */
export function encodeReset(seq: number): string {
  return frame({ id: seq, event: 'reset', data: { seq, type: 'reset' } });
}

/**
 * What a stream begins with: where it stands, as an id without data, which clients keep and show to nobody. One that loses its
 * connection before the first event would otherwise come back without an id, and miss what happened meanwhile.
 */
export function encodeStart(seq: number): string {
  return `retry: 1000\nid: ${seq}\n\n`;
}

export const HEARTBEAT = ': \n\n';

// JSON text has no line breaks, so data is always one line.
function frame({ id, event, data }: { id: number; event: string; data: unknown }): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
