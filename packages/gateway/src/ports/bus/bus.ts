/**
 * Ephemeral fan-out of stream events, between gateways too. Events are durable before they get here (see streams/emit.ts): a lost
 * notice delays a reader until the next one, and loses nothing.
 */
export interface Bus {
  /** Never throws and never waits. Subscribers of this process are told before it returns. */
  publish(events: readonly StreamEvent[]): void;
  /**
   * Notices of one channel, mostly in the order of their `seq`: of two transactions that end in the same moment the later may be
   * told of first, and a notice may come twice. A reader that finds a gap reads the store. Gives what ends the subscription.
   */
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
  /** How many keys had been revoked when it was said: see streams/revocations.ts. */
  readonly revocations: number;
}

/** That there is something to read: with it, or by reference where it was too large or too much to travel. */
export interface StreamNotice {
  readonly channel: string;
  /** The store has events at least up to this one. 0: some may have been missed, look. */
  readonly seq: number;
  readonly event?: StreamEvent;
}
