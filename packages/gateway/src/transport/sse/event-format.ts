import type { ApiError } from '../../domain/api-error.ts';
import { encodeEvent, encodeReset, encodeStart } from '../../domain/streams/encode-event.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';

/** The format of a stream's events for a client. */
export interface EventFormat {
  /** The first bytes. `position`: the last event that the client has. */
  start(position: number): Uint8Array;
  /** Undefined: the client does not see this event. */
  event(event: StreamEvent): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Reports that the events up to this one are deleted. */
  reset(seq: number): Uint8Array | undefined;
  /**
   * How a stream that ends too early is closed, for clients that take any end for a complete one: with these bytes, or by cutting
   * the connection.
   */
  readonly interrupted?: Uint8Array | 'cut';
  /** The last bytes of a stream that ends with this error, because what it shows was deleted. */
  failed?(error: ApiError): Uint8Array;
}

/** The gateway's own format: each event has its number, so that a client can resume. */
export const plainFormat: EventFormat = { start: encodeStart, event: encodeEvent, reset: encodeReset };
