import type { McpClient } from './open-client.ts';

/**
 * The state of a connection to a server. Only `nextConnection` changes it.
 *
 *     connecting ──opened──▶ up ──lost──▶ lost
 *         │                  ▲ ▲           │ │
 *         │                  │ └──opened───┘ │
 *         │                opened            │
 *         │                  │               │
 *         └─attempt-failed─▶ down ◀──attempt-failed, also from down itself
 *
 * - `connecting`: for the first time. Its tools are not known yet, so runs wait for it.
 * - `lost`: it was up a moment ago and is being reconnected. Its tools are offered, and their calls wait for it.
 * - `down`: the last attempt to connect has failed. Its tools are not offered, and no run waits for it.
 * - `closed`: the gateway no longer uses it. It is reached from every state, and never left.
 */
export type ConnectionState =
  | { readonly kind: 'connecting' | 'closed' }
  | { readonly kind: 'up'; readonly client: McpClient }
  | { readonly kind: 'lost'; readonly problem: string }
  | ({ readonly kind: 'down' } & FailedAttempt);

interface FailedAttempt {
  readonly problem: string;
  /** The page where a person must authorise the gateway. */
  readonly authorizationUrl: string | undefined;
}

export type ConnectionEvent =
  | { readonly type: 'opened'; readonly client: McpClient }
  | ({ readonly type: 'attempt-failed' } & FailedAttempt)
  /** The client cannot reach the server any more. It may have been replaced already. */
  | { readonly type: 'lost'; readonly client: McpClient; readonly problem: string }
  | { readonly type: 'closed' };

/** What the log says about a change: that the server is down, once for each problem, or that it is back. */
export type ConnectionNotice = { readonly kind: 'down'; readonly problem: string } | { readonly kind: 'back' };

/** The next state of a connection, and what is logged. This is a pure function. */
export function nextConnection(
  state: ConnectionState,
  event: ConnectionEvent,
): readonly [state: ConnectionState, notice?: ConnectionNotice] {
  if (state.kind === 'closed') return [state];
  switch (event.type) {
    case 'opened': {
      const up = { kind: 'up', client: event.client } as const;
      return state.kind === 'down' ? [up, { kind: 'back' }] : [up];
    }
    case 'attempt-failed': {
      const { problem, authorizationUrl } = event;
      const down = { kind: 'down', problem, authorizationUrl } as const;
      return state.kind === 'down' && state.problem === problem ? [down] : [down, { kind: 'down', problem }];
    }
    case 'lost':
      return isUp(state, event.client) ? [{ kind: 'lost', problem: event.problem }] : [state];
    case 'closed':
      return [{ kind: 'closed' }];
  }
}

export function isUp(state: ConnectionState, client: McpClient): boolean {
  return state.kind === 'up' && state.client === client;
}

/** The time until the next attempt to connect: with the attempt itself, a server is back within 10 s. */
const RETRY_MS = 3_000;
/** A server that was just connected may be back at once, e.g. if its process is restarted. */
const RETRY_LOST_MS = 100;
/** The time limit of later attempts: a server over HTTP that hangs must not delay the attempt that succeeds. */
const RECONNECT_MS = { http: 5_000, stdio: 30_000 } as const;

/** The time until the next attempt to connect. */
export function retryMs({ kind }: ConnectionState): number {
  return kind === 'lost' ? RETRY_LOST_MS : RETRY_MS;
}

interface AttemptOptions {
  readonly transport: 'http' | 'stdio';
  /** How long the first attempt to connect may take. */
  readonly connectTimeoutMs: number;
}

/** How long the next attempt to connect may take. */
export function attemptMs({ kind }: ConnectionState, { transport, connectTimeoutMs }: AttemptOptions): number {
  return kind === 'connecting' ? connectTimeoutMs : Math.min(connectTimeoutMs, RECONNECT_MS[transport]);
}
