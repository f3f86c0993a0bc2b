/**
 * Ephemeral fan-out of stream events, between gateways too. Events are durable before they get here (see streams/emit.ts): a lost
 * notice delays a reader until the next one, and loses nothing.
 */
export interface Bus {
  /** Never throws and never waits. */
  publish(events: readonly StreamEvent[]): void;
  /** Notices of one channel, in the order of their `seq`. Gives what ends it. */
  subscribe(channel: string, listener: (notice: StreamNotice) => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** One event of a stream: a row of `stream_events`. */
export interface StreamEvent {
  readonly channel: string;
  /** 1, 2, 3 … within the channel, without gaps. */
  readonly seq: number;
  readonly type: string;
  readonly payload: unknown;
  readonly at: number;
}

/** That there is an event: with it, or by reference where it was too large to travel. */
export interface StreamNotice {
  readonly channel: string;
  readonly seq: number;
  readonly event?: StreamEvent;
}
