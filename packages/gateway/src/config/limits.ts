/** The limits of one gateway. Everything has a limit, and an error that names it. */
export interface GatewayLimits {
  /** How long a worker holds a thread without renewing its lease. */
  readonly leaseMs: number;
  /** How often the gateway looks for lost wakes and due work. */
  readonly sweepMs: number;
  /** The number of runs at once. */
  readonly runs: number;
  /** The number of events that may wait for one agent. */
  readonly inboxLength: number;
  /** The delay before a failed run is tried again. It doubles with each attempt. */
  readonly retryMs: number;
  /** The number of agents' messages in a row, without one by a person, after which no agent is woken. */
  readonly hopLimit: number;
  readonly bodyBytes: number;
  /** The number of tools that a request may bring, for the caller to run. */
  readonly clientTools: number;
  /** The size of one such tool as JSON: its name, its description and its schema. */
  readonly clientToolBytes: number;
  /** The size of all of them together. */
  readonly clientToolsBytes: number;
  readonly messageCharacters: number;
  readonly resultBytes: number;
  /** How much of a tool's output is shown. The rest is cut off and can be read back by reference. */
  readonly outputBytes: number;
  /** How much of a tool's output is stored to be read back. */
  readonly keptOutputBytes: number;
  /** How large an image may be. */
  readonly artifactBytes: number;
  /** The number of streams that are open at once, and of requests that wait for a run. */
  readonly connections: number;
  /** How many of these one caller may have: one key, or one entity. */
  readonly connectionsPerCaller: number;
  /** How many of these may come from one address. */
  readonly connectionsPerAddress: number;
  /** The number of request bodies that are read at once. A body that arrived complete with its request does not count. */
  readonly bodies: number;
  readonly bodiesPerCaller: number;
  readonly bodiesPerAddress: number;
  /** How long a body may take to arrive. */
  readonly bodyTimeoutMs: number;
  /**
   * The number of events that wait in memory for one reader of a stream. A reader further behind reads from the
   * database.
   */
  readonly streamBacklog: number;
  /** How long a reader of a stream may accept nothing before it is disconnected. */
  readonly streamStallMs: number;
  /** How long the events of a stream are kept for readers that reconnect. */
  readonly streamWindowMs: number;
  /** How many days a conversation is kept after its last use. */
  readonly contextDays: number;
  /** The same for conversations of MCP calls, and for those that a request with `save: false` made. */
  readonly briefContextDays: number;
  /** How many days an entry of the audit is kept. */
  readonly auditDays: number;
  /** How many days a message of a space is kept. */
  readonly messageDays: number;
  /** How many days a run is kept. */
  readonly runDays: number;
  /** How many days the text of a request to a model is kept after its last use. */
  readonly requestDays: number;
  /** How many days an artifact is kept. */
  readonly artifactDays: number;
  /** How many days a notification is kept. */
  readonly notificationDays: number;
  /** The number of notifications that may wait for one target. 0 if there are no targets: then no events are stored for them. */
  readonly pendingNotifications: number;
  /** How long runs may continue after a stop was requested. */
  readonly graceMs: number;
}

export const DEFAULT_GATEWAY_LIMITS: GatewayLimits = {
  leaseMs: 10_000,
  sweepMs: 1_000,
  runs: 500,
  inboxLength: 10_000,
  retryMs: 1_000,
  hopLimit: 8,
  bodyBytes: 1_000_000,
  clientTools: 128,
  clientToolBytes: 64_000,
  clientToolsBytes: 128_000,
  messageCharacters: 32_000,
  resultBytes: 256_000,
  outputBytes: 256_000,
  keptOutputBytes: 16_000_000,
  artifactBytes: 20_000_000,
  connections: 10_000,
  connectionsPerCaller: 1_000,
  connectionsPerAddress: 5_000,
  bodies: 200,
  bodiesPerCaller: 20,
  bodiesPerAddress: 100,
  bodyTimeoutMs: 30_000,
  streamBacklog: 1_000,
  streamStallMs: 15_000,
  streamWindowMs: 3_600_000,
  contextDays: 365,
  briefContextDays: 7,
  auditDays: 365,
  messageDays: Number.POSITIVE_INFINITY,
  runDays: Number.POSITIVE_INFINITY,
  requestDays: 365,
  artifactDays: Number.POSITIVE_INFINITY,
  notificationDays: 30,
  pendingNotifications: 10_000,
  graceMs: 10_000,
};

type Shares = Pick<
  GatewayLimits,
  'connectionsPerCaller' | 'connectionsPerAddress' | 'bodiesPerCaller' | 'bodiesPerAddress'
>;

/** Shares that are not set are derived from the total: a tenth for one caller, a half for one address. */
export function defaultShares({
  connections = DEFAULT_GATEWAY_LIMITS.connections,
  bodies = DEFAULT_GATEWAY_LIMITS.bodies,
}: {
  readonly connections?: number | undefined;
  readonly bodies?: number | undefined;
}): Shares {
  return {
    connectionsPerCaller: Math.ceil(connections / 10),
    connectionsPerAddress: Math.ceil(connections / 2),
    bodiesPerCaller: Math.ceil(bodies / 10),
    bodiesPerAddress: Math.ceil(bodies / 2),
  };
}
