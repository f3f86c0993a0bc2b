import type { PriorDiscovery } from '@modelcontextprotocol/client';
import type { KnownSecrets } from '../../../telemetry/known-secrets.ts';
import { atMost, LONGEST_TIMER_MS } from '../at-most.ts';
import { type CallFailure, callFailure } from './call-failure.ts';
import { assertAuthorized, explainFailure, openInTime, type ServerAccess } from './connect-attempt.ts';
import {
  attemptMs,
  type ConnectionEvent,
  type ConnectionNotice,
  type ConnectionState,
  isUp,
  nextConnection,
  retryMs,
} from './connection-state.ts';
import { ListReader } from './list-reader.ts';
import { fingerprintOf, type McpDefinition } from './mcp-definition.ts';
import { type McpStatus, problemOf, statusOf } from './mcp-status.ts';
import type { McpCall, McpClient } from './open-client.ts';
import type { McpSnapshot, ToolListOptions } from './tool-list.ts';

export interface McpConnectionOptions extends ToolListOptions, ServerAccess {
  readonly transport: 'http' | 'stdio';
  /** How long the first attempt to connect may take. */
  readonly connectTimeoutMs: number;
}

export type Called = { readonly result: unknown } | { readonly failure: CallFailure };

type CallOptions = Omit<McpCall, 'definition'> & {
  /** True if the tool may run twice: then a lost call is repeated. */
  readonly mayRepeat: boolean;
};

/** How long a run waits for a server, and for what. */
export interface ReadyOptions {
  /** True if the server is asked for its tools, even if they are known. */
  readonly isFresh: boolean;
  readonly withinMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The additional time for the first list. An attempt that exceeds it fails with that reason. */
const FIRST_LIST_MS = 15_000;
/** How long a call waits for a server that is down, because it may be back in a moment. */
const CALL_PATIENCE_MS = 5_000;
const MOST_ATTEMPTS = 3;
/** The server is there and has decided about the call. To reconnect would cut off the calls of other runs. */
const FINAL: ReadonlySet<CallFailure['kind']> = new Set(['answered', 'malformed', 'refused']);
const NO_TOOLS: McpSnapshot = { tools: [] };

/**
 * Keeps one server connected while it is in use, and knows its tools. Agents that reach it in the same way share it.
 */
export class McpConnection {
  readonly #options: McpConnectionOptions;
  readonly #secrets: KnownSecrets;
  readonly #reader: ListReader;
  /** Aborts an attempt to connect when the connection is closed. */
  readonly #lifetime = new AbortController();
  readonly #running: Promise<void>;
  #closing: Promise<void> = Promise.resolve();
  #prior: PriorDiscovery | undefined;
  #state: ConnectionState = { kind: 'connecting' };
  /** Resolves with the next change of the state. */
  #changed = Promise.withResolvers<void>();
  #wakeUp: () => void = () => {};
  #inFlight = 0;
  #usedAt = performance.now();

  constructor(options: McpConnectionOptions) {
    this.#options = options;
    this.#secrets = options.secrets;
    const isPolled = options.transport === 'http';
    this.#reader = new ListReader({ ...options, isPolled, isCalling: () => this.#inFlight > 0 });
    this.#running = this.#run();
  }

  get snapshot(): McpSnapshot {
    const { kind } = this.#state;
    return kind === 'up' || kind === 'lost' ? this.#reader.list.snapshot : NO_TOOLS;
  }

  get status(): McpStatus {
    const { held, unusable } = this.#reader.list;
    return { ...statusOf(this.#state), tools: this.snapshot.tools.map(({ name }) => name), held, unusable };
  }

  /** How long it has been unused. */
  get idleMs(): number {
    return this.#inFlight > 0 ? 0 : performance.now() - this.#usedAt;
  }

  /**
   * Resolves when the tools are known, or without them when the time is over or the server is down, so that an agent
   * can continue. A run that waits for a server that is connected for the first time gets its tools, even on a slow
   * machine.
   */
  async ready({ isFresh, withinMs, signal }: ReadyOptions): Promise<void> {
    this.#usedAt = performance.now();
    if (isFresh) this.#demandList();
    const isKnown = ({ kind }: ConnectionState): boolean => kind !== 'connecting' && (kind !== 'lost' || !isFresh);
    const firstAttemptMs = this.#options.connectTimeoutMs + FIRST_LIST_MS;
    await this.#until(isKnown, Math.min(withinMs, firstAttemptMs), signal);
    if (isFresh) await this.#settledList(signal, withinMs);
    // The tools may have been approved since.
    else await this.#reader.list.checkHeld();
  }

  /** Calls a tool. Rejects only if the signal was aborted. */
  async call(definition: McpDefinition, { mayRepeat, ...call }: CallOptions): Promise<Called> {
    this.#usedAt = performance.now();
    for (let attempt = 1; ; attempt++) {
      const client = this.#state.kind === 'up' ? this.#state.client : await this.#whenUp(definition, call.signal);
      if ('notSent' in client) return this.#failed({ kind: 'not-sent', message: client.notSent });
      const called = await this.#callOnce(client, { ...call, definition });
      if ('result' in called || FINAL.has(called.failure.kind) || attempt === MOST_ATTEMPTS) return called;
      if (called.failure.kind === 'not-sent') this.#change({ type: 'lost', client, problem: called.failure.message });
      else {
        this.#demandList();
        if (!mayRepeat) return called;
      }
    }
  }

  async close(): Promise<void> {
    this.#lifetime.abort();
    this.#change({ type: 'closed' });
    await this.#running;
    await this.#closing;
  }

  async #callOnce(client: McpClient, call: McpCall): Promise<Called> {
    this.#inFlight++;
    try {
      const result = await callWithoutSecrets(client, call, this.#secrets);
      if (!this.#reader.pace.hasFailed) await this.#settledList(call.signal);
      return { result };
    } catch (error) {
      if (call.signal.aborted) throw error;
      return this.#failed(callFailure(error));
    } finally {
      this.#inFlight--;
    }
  }

  /** A server's message may repeat the secrets that it was sent. */
  #failed({ kind, message }: CallFailure): { readonly failure: CallFailure } {
    return { failure: { kind, message: this.#secrets.removeFrom(message) } };
  }

  /** Waits while a connection is being made, and for a short time if the server is down. */
  async #whenUp(definition: McpDefinition, signal: AbortSignal): Promise<McpClient | { readonly notSent: string }> {
    await this.#until(({ kind }) => kind === 'up' || kind === 'closed', CALL_PATIENCE_MS, signal);
    await this.#until(({ kind }) => kind !== 'connecting' && kind !== 'lost', LONGEST_TIMER_MS, signal);
    if (this.#state.kind !== 'up') return { notSent: problemOf(this.#state) };
    return this.#offers(definition)
      ? this.#state.client
      : { notSent: 'it was reconnected and no longer has this tool' };
  }

  #offers(definition: McpDefinition): boolean {
    const { name } = definition;
    const now = this.#reader.list.snapshot.tools.find((one) => one.name === name);
    return now !== undefined && fingerprintOf(now) === fingerprintOf(definition);
  }

  async #until(isReached: (state: ConnectionState) => boolean, ms: number, signal?: AbortSignal): Promise<void> {
    const end = performance.now() + ms;
    while (!isReached(this.#state) && signal?.aborted !== true && performance.now() < end)
      await atMost(end - performance.now(), this.#changed.promise, signal);
  }

  async #settledList(signal: AbortSignal | undefined, withinMs?: number): Promise<void> {
    await this.#reader.settled({ isUp: () => this.#state.kind === 'up', withinMs, signal });
  }

  #demandList(): void {
    this.#reader.pace.demand();
    this.#wakeUp();
  }

  #change(event: ConnectionEvent): void {
    const [state, notice] = nextConnection(this.#state, event);
    if (state === this.#state) return;
    this.#state = state;
    if (notice !== undefined) this.#log(notice);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
    this.#wakeUp();
  }

  #log(notice: ConnectionNotice): void {
    const { name, logger } = this.#options;
    if (notice.kind === 'back') logger.info(`The MCP server "${name}" is back.`);
    else logger.warn(`The MCP server "${name}" is down: its tools are not offered.`, { problem: notice.problem });
  }

  async #run(): Promise<void> {
    while (this.#state.kind !== 'closed') {
      const client = await this.#connect();
      if (client !== undefined) await this.#keep(client);
      await this.#pause(retryMs(this.#state));
    }
  }

  /** Connects and reads the list. Returns undefined if that fails. */
  async #connect(): Promise<McpClient | undefined> {
    let client: McpClient | undefined;
    try {
      client = await this.#open();
      // The server may now be another version.
      this.#reader.pace.announce();
      if (this.#reader.pace.waitMs === 0) await this.#reader.read(client);
      this.#prior = client.prior;
      this.#change({ type: 'opened', client });
      return client;
    } catch (error) {
      if (client !== undefined) this.#close(client);
      this.#change({ type: 'attempt-failed', ...(await explainFailure(this.#options, error)) });
      return undefined;
    }
  }

  async #open(): Promise<McpClient> {
    await assertAuthorized(this.#options);
    const prior = this.#prior;
    // The server may use another protocol version the next time.
    this.#prior = undefined;
    const onListChanged = (): void => {
      this.#reader.pace.announce();
      this.#wakeUp();
    };
    const { signal } = this.#lifetime;
    const timeoutMs = attemptMs(this.#state, this.#options);
    return await openInTime(this.#options, { prior, signal, timeoutMs, onListChanged });
  }

  /** Reads the list when it is due, until the connection is lost or closed. */
  async #keep(client: McpClient): Promise<void> {
    void client.closed.then(() => {
      const { message } = callFailure(new Error(`The connection is gone. ${client.lastWords()}`.trim()));
      this.#change({ type: 'lost', client, problem: this.#secrets.removeFrom(message) });
    });
    try {
      while (isUp(this.#state, client)) {
        const { waitMs } = this.#reader.pace;
        if (waitMs === 0) await this.#reader.read(client);
        else await this.#pause(waitMs);
      }
    } catch (error) {
      this.#change({ type: 'lost', client, problem: (await explainFailure(this.#options, error)).problem });
    } finally {
      this.#close(client);
    }
  }

  #close(client: McpClient): void {
    this.#closing = client.close().catch(() => {});
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wakeUp = resolve;
    if (this.#state.kind !== 'closed') await atMost(ms, promise);
    this.#wakeUp = () => {};
  }
}

/**
 * Calls a tool, and removes secrets from the questions that the server asks. A question is stored before the rest of
 * the gateway sees it. Its state is sent back to the server unchanged.
 */
async function callWithoutSecrets(client: McpClient, call: McpCall, secrets: KnownSecrets): Promise<unknown> {
  const onAsk = (params: unknown) => call.onAsk(secrets.removeFromAll(params));
  const result = await client.call({ ...call, onAsk });
  const asked = (result ?? {}) as { readonly inputRequests?: unknown };
  return asked.inputRequests === undefined
    ? result
    : { ...asked, inputRequests: secrets.removeFromAll(asked.inputRequests) };
}
