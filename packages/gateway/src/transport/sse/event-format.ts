import { encodeEvent, encodeReset, encodeStart } from '../../domain/streams/encode-event.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';

/** How the events of a channel look to a client. */
export interface EventFormat {
  /** What comes first. `position`: the last event that the client has. */
  start(position: number): Uint8Array;
  /** Undefined: the client is told nothing of it. */
  event(event: StreamEvent): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** The events up to this one are deleted. */
  reset(seq: number): Uint8Array | undefined;
  /** How a stream ends that ends too early, for clients that take any end for the whole: with these words, or with the connection. */
  readonly interrupted?: Uint8Array | 'cut';
}

/** The gateway's own: each event with its number, so that a client can resume. */
export const plainFormat: EventFormat = { start: encodeStart, event: encodeEvent, reset: encodeReset };
