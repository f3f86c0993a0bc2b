/** What one gateway allows. Everything has a bound, and an error that says it. */
export interface GatewayLimits {
  /** How long a thread is held without a sign of life. */
  readonly leaseMs: number;
  /** How often what was lost or is due is looked for. */
  readonly sweepMs: number;
  /** Cycles under way at once. */
  readonly cycles: number;
  /** Events that may wait for one agent. */
  readonly inboxLength: number;
  /** Before the second try of a failed cycle; doubled for each further one. */
  readonly retryMs: number;
  /** Messages by agents without one by a person in between. */
  readonly hops: number;
  readonly bodyBytes: number;
  readonly messageCharacters: number;
  readonly resultBytes: number;
  /** What is shown of a tool's output. The rest is cut off, and read back by reference. */
  readonly outputBytes: number;
  /** What is kept of a tool's output to be read back. */
  readonly keptOutputBytes: number;
  /** Streams open at once. */
  readonly connections: number;
  /** Events that may wait in memory for one reader of a stream. What is more is read from the database. */
  readonly streamBacklog: number;
  /** How long a reader of a stream may take nothing of what is handed to it before it is disconnected. */
  readonly streamStallMs: number;
  /** How long what a stream said is kept for those who missed it. */
  readonly streamWindowMs: number;
  /** How long cycles may go on after a stop was asked for. */
  readonly graceMs: number;
}

export const DEFAULT_GATEWAY_LIMITS: GatewayLimits = {
  leaseMs: 10_000,
  sweepMs: 1_000,
  cycles: 500,
  inboxLength: 10_000,
  retryMs: 1_000,
  hops: 8,
  bodyBytes: 1_000_000,
  messageCharacters: 32_000,
  resultBytes: 256_000,
  outputBytes: 256_000,
  keptOutputBytes: 16_000_000,
  connections: 10_000,
  streamBacklog: 1_000,
  streamStallMs: 15_000,
  streamWindowMs: 3_600_000,
  graceMs: 10_000,
};
