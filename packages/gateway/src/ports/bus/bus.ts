/**
 * Broadcasts stream events to the readers of all gateways. It stores nothing: events are durable before they get here
 * (see `Tx.emit`), so a lost notice delays a reader until the next one, and loses nothing.
 */
export interface Bus {
  /** Never throws and never waits. Subscribers of this process are called before it returns. */
  publish(events: readonly StreamEvent[]): void;
  /**
   * Calls the listener with the notices of one stream, mostly in the order of their `seq`. If two transactions commit
   * at the same moment, the later notice may come first, and a notice may come twice. A reader that finds a gap reads
   * the store. Returns a function that ends the subscription.
   */
  subscribe(stream: string, listener: (notice: StreamNotice) => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** An event to emit. The payload is a value, or its JSON text. */
export type NewStreamEvent = { readonly stream: string; readonly type: string } & (
  | { readonly payload: unknown }
  | { readonly json: string }
);

/** One event of a stream: a row of `stream_events`. */
export interface StreamEvent {
  readonly stream: string;
  /** Counts 1, 2, 3 … within the stream, without gaps. */
  readonly seq: number;
  readonly type: string;
  readonly payload: unknown;
  /** The payload as JSON text, if it is already serialized. */
  readonly json?: string;
  readonly at: number;
  /** How many keys had been revoked when the event was written: see domain/streams/revocations.ts. */
  readonly revocations: number;
}

/** Says that there is something to read. It contains the event, unless that was too large to send. */
export interface StreamNotice {
  readonly stream: string;
  /** The store has events at least up to this one. 0 means that some may have been missed, so the reader must look. */
  readonly seq: number;
  readonly event?: StreamEvent;
}
