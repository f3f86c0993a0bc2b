import type { PriorDiscovery } from '@modelcontextprotocol/client';
import type { Egress } from '../../../ports/egress/egress.ts';
import type { KnownSecrets } from '../../../telemetry/known-secrets.ts';
import { atMost, LONGEST_TIMER_MS } from '../at-most.ts';
import { type CallFailure, callFailure } from './call-failure.ts';
import { ListPace } from './list-pace.ts';
import { fingerprintOf, type McpDefinition } from './mcp-definition.ts';
import type { McpAddress, McpCall, McpClient } from './open-client.ts';
import { type McpSnapshot, ToolList, type ToolListOptions } from './tool-list.ts';

export interface McpConnectionOptions extends ToolListOptions {
  readonly transport: 'http' | 'stdio';
  /** How long the first attempt to connect may take. */
  readonly connectTimeoutMs: number;
  /** How the server is reached. Throws if a secret is missing. */
  address(): Promise<McpAddress>;
  /** The page where a person has to authorise the gateway first. */
  authorizationUrl(): Promise<string | undefined>;
  readonly egress: Egress;
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

/** What operators see of a server. */
export interface McpStatus {
  readonly status: 'connecting' | 'up' | 'down';
  readonly problem?: string;
  /** The page where a person must authorise the gateway. */
  readonly authorizationUrl?: string;
  readonly tools: readonly string[];
  readonly held: readonly string[];
  readonly unusable: readonly string[];
}

/**
 * - `connecting`: for the first time. Its tools are not known yet, so runs wait for it.
 * - `lost`: it was up a moment ago and is being reconnected. Its tools are offered, and their calls wait for it.
 * - `down`: the last attempt to connect has failed. Its tools are not offered, and no run waits for it.
 */
type State =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'up'; readonly client: McpClient }
  | { readonly kind: 'lost'; readonly problem: string }
  | { readonly kind: 'down'; readonly problem: string; readonly authorizationUrl: string | undefined };

/** The time until the next attempt to connect: with the attempt itself, a server is back within 10 s. */
const RETRY_MS = 3_000;
/** The time limit of later attempts: a server over HTTP that hangs must not delay the attempt that succeeds. */
const RECONNECT_MS = { http: 5_000, stdio: 30_000 } as const;
/** The additional time for the first list. An attempt that exceeds it fails with that reason. */
const FIRST_LIST_MS = 15_000;
/** How long a call waits for a server that is down, because it may be back in a moment. */
const CALL_PATIENCE_MS = 5_000;
/** How long the end of a call waits for a changed list, so that the next step has it. */
const LIST_PATIENCE_MS = 10_000;
/** After this many lists in a row that do not arrive, the server counts as hanging. */
const MOST_LATE_LISTS = 3;
const MOST_ATTEMPTS = 3;
const MUST_BE_AUTHORIZED =
  'The gateway must be authorised: open authorizationUrl of GET /api/mcp/servers in a browser.';
const NO_TOOLS: McpSnapshot = { tools: [] };

/**
 * Keeps one server connected while it is in use, and knows its tools. Agents that reach it in the same way share it.
 */
export class McpConnection {
  readonly #options: McpConnectionOptions;
  readonly #secrets: KnownSecrets;
  readonly #list: ToolList;
  readonly #pace: ListPace;
  readonly #lifetime = new AbortController();
  readonly #running: Promise<void>;
  #closing: Promise<void> = Promise.resolve();
  #prior: PriorDiscovery | undefined;
  #state: State = { kind: 'connecting' };
  /** Resolves with the next change of the state. */
  #changed = Promise.withResolvers<void>();
  /** Resolves when the list is read. Undefined if it is not being read. */
  #reading: Promise<void> | undefined;
  #lateLists = 0;
  /** The last problem that was logged. Undefined if the server was up since. */
  #logged: string | undefined;
  #wakeUp: () => void = () => {};
  #inFlight = 0;
  #usedAt = performance.now();

  constructor(options: McpConnectionOptions) {
    this.#options = options;
    this.#secrets = options.secrets;
    this.#list = new ToolList(options);
    this.#pace = new ListPace({ isPolled: options.transport === 'http' });
    this.#running = this.#run();
  }

  get snapshot(): McpSnapshot {
    return this.#state.kind === 'up' || this.#state.kind === 'lost' ? this.#list.snapshot : NO_TOOLS;
  }

  get status(): McpStatus {
    const { held, unusable } = this.#list;
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
    const isKnown = ({ kind }: State): boolean => kind === 'up' || kind === 'down' || (kind === 'lost' && !isFresh);
    const attemptMs = this.#options.connectTimeoutMs + FIRST_LIST_MS;
    await this.#until(isKnown, Math.min(withinMs, attemptMs), signal);
    if (isFresh) await this.#settledList(withinMs, signal);
    // The tools may have been approved since.
    else await this.#list.checkHeld();
  }

  /** Calls a tool. Rejects only if the signal was aborted. */
  async call(definition: McpDefinition, { mayRepeat, ...call }: CallOptions): Promise<Called> {
    this.#usedAt = performance.now();
    for (let attempt = 1; ; attempt++) {
      const client = this.#state.kind === 'up' ? this.#state.client : await this.#whenUp(definition, call.signal);
      if ('notSent' in client) return this.#failed({ kind: 'not-sent', message: client.notSent });
      const called = await this.#callOnce(client, { ...call, definition });
      if ('result' in called || called.failure.kind === 'answered' || attempt === MOST_ATTEMPTS) return called;
      if (called.failure.kind === 'not-sent') this.#replace(client, called.failure.message);
      else {
        this.#demandList();
        if (!mayRepeat) return called;
      }
    }
  }

  async close(): Promise<void> {
    this.#lifetime.abort();
    this.#wakeUp();
    await this.#running;
    await this.#closing;
  }

  async #callOnce(client: McpClient, call: McpCall): Promise<Called> {
    this.#inFlight++;
    try {
      const onAsk = (params: unknown) => call.onAsk(this.#secrets.removeFromAll(params));
      const result = withoutSecrets(await client.call({ ...call, onAsk }), this.#secrets);
      if (!this.#pace.hasFailed) await this.#settledList(LIST_PATIENCE_MS, call.signal);
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
    await this.#until(({ kind }) => kind === 'up', CALL_PATIENCE_MS, signal);
    await this.#until(({ kind }) => kind === 'up' || kind === 'down', LONGEST_TIMER_MS, signal);
    const state = this.#state;
    if (state.kind !== 'up') return { notSent: state.kind === 'connecting' ? 'it is not connected' : state.problem };
    return this.#offers(definition) ? state.client : { notSent: 'it was reconnected and no longer has this tool' };
  }

  #offers(definition: McpDefinition): boolean {
    const { name } = definition;
    const now = this.#list.snapshot.tools.find((one) => one.name === name);
    return now !== undefined && fingerprintOf(now) === fingerprintOf(definition);
  }

  async #until(isReached: (state: State) => boolean, ms: number, signal?: AbortSignal): Promise<void> {
    const end = performance.now() + ms;
    while (!isReached(this.#state) && signal?.aborted !== true && performance.now() < end)
      await atMost(end - performance.now(), this.#changed.promise, signal);
  }

  #enter(state: State): void {
    this.#state = state;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Waits for a list that is being read or should be read at once. */
  async #settledList(withinMs: number, signal?: AbortSignal): Promise<void> {
    const end = performance.now() + Math.min(withinMs, LIST_PATIENCE_MS);
    const isAwaited = (): boolean =>
      this.#state.kind === 'up' && (this.#reading !== undefined || this.#pace.waitMs === 0);
    while (isAwaited() && signal?.aborted !== true && performance.now() < end)
      if (this.#reading === undefined) await new Promise(setImmediate);
      else await atMost(end - performance.now(), this.#reading, signal);
  }

  #demandList(): void {
    this.#pace.demand();
    this.#wakeUp();
  }

  #announceList(): void {
    this.#pace.announce();
    this.#wakeUp();
  }

  #replace(client: McpClient, problem: string): void {
    if (this.#state.kind !== 'up' || this.#state.client !== client) return;
    this.#enter({ kind: 'lost', problem });
    this.#wakeUp();
  }

  async #run(): Promise<void> {
    const { connectTimeoutMs, transport } = this.#options;
    for (let timeoutMs = connectTimeoutMs; !this.#lifetime.signal.aborted; ) {
      try {
        await this.#stayConnected(timeoutMs);
      } catch (error) {
        await this.#lose(error);
      }
      timeoutMs = Math.min(connectTimeoutMs, RECONNECT_MS[transport]);
      // A server that was just connected may be back at once, e.g. if its process is restarted.
      await this.#pause(this.#state.kind === 'lost' ? 100 : RETRY_MS);
    }
  }

  async #stayConnected(timeoutMs: number): Promise<void> {
    const client = await this.#open(timeoutMs);
    let isClosed = false;
    void client.closed.then(() => {
      isClosed = true;
      this.#wakeUp();
    });
    try {
      // The server may now be another version.
      this.#pace.announce();
      if (this.#pace.waitMs === 0) await this.#readList(client);
      this.#prior = client.prior;
      this.#goUp(client);
      while (this.#isUp(client) && !this.#lifetime.signal.aborted) {
        if (isClosed) throw new Error(`The connection is gone. ${client.lastWords()}`.trim());
        const { waitMs } = this.#pace;
        if (waitMs === 0) await this.#readList(client);
        else await this.#pause(waitMs);
      }
    } finally {
      this.#closing = client.close().catch(() => {});
    }
  }

  #isUp(client: McpClient): boolean {
    return this.#state.kind === 'up' && this.#state.client === client;
  }

  async #open(timeoutMs: number): Promise<McpClient> {
    const { address, egress, authorizationUrl } = this.#options;
    // Another attempt would request another authorization, while a person may be about to give the first one.
    if ((await authorizationUrl()) !== undefined) throw new Error(MUST_BE_AUTHORIZED);
    const { openClient } = await import('./open-client.ts');
    const prior = this.#prior;
    // The server may use another protocol version the next time.
    this.#prior = undefined;
    const late = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([this.#lifetime.signal, late]);
    try {
      const onListChanged = (): void => this.#announceList();
      return await openClient(await address(), { egress, prior, signal, timeoutMs, onListChanged });
    } catch (error) {
      if (!late.aborted) throw error;
      throw new Error(`It did not answer within ${timeoutMs} ms.`, { cause: error });
    }
  }

  /**
   * Throws if the server cannot be reached. If the list cannot be read, the last good one stays, and it is read again
   * soon.
   */
  async #readList(client: McpClient): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#reading = promise;
    const end = this.#pace.begin();
    try {
      end(await this.#list.take(await this.#listTools(client)));
    } catch (error) {
      end('failed');
      if (error instanceof ServerGone || !this.#list.isKnown) throw error;
      const { name, logger } = this.#options;
      const problem = this.#secrets.removeFrom(callFailure(error).message);
      logger.warn(`The tools of the MCP server "${name}" cannot be listed: the last list stays in use.`, { problem });
    } finally {
      this.#reading = undefined;
      resolve();
    }
  }

  async #listTools(client: McpClient): ReturnType<McpClient['list']> {
    try {
      const listed = await client.list();
      this.#lateLists = 0;
      return listed;
    } catch (error) {
      const isLate = (error as { code?: unknown }).code === 'REQUEST_TIMEOUT';
      this.#lateLists = isLate ? this.#lateLists + 1 : 0;
      const isAnswer = callFailure(error).kind === 'answered' || (isLate && this.#lateLists < MOST_LATE_LISTS);
      // Running calls find out for themselves whether the server is there.
      if (isAnswer || this.#inFlight > 0) throw error;
      throw new ServerGone(callFailure(error).message, { cause: error });
    }
  }

  #goUp(client: McpClient): void {
    const { name, logger } = this.#options;
    if (this.#logged !== undefined) logger.info(`The MCP server "${name}" is back.`);
    this.#logged = undefined;
    this.#enter({ kind: 'up', client });
  }

  async #lose(error: unknown): Promise<void> {
    const { name, logger } = this.#options;
    const authorizationUrl = await this.#options.authorizationUrl().catch(() => undefined);
    const problem =
      authorizationUrl === undefined ? this.#secrets.removeFrom(callFailure(error).message) : MUST_BE_AUTHORIZED;
    if (this.#lifetime.signal.aborted) return;
    if (this.#state.kind === 'up') {
      this.#enter({ kind: 'lost', problem });
      return;
    }
    if (this.#logged !== problem)
      logger.warn(`The MCP server "${name}" is down: its tools are not offered.`, { problem });
    this.#logged = problem;
    this.#enter({ kind: 'down', problem, authorizationUrl });
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wakeUp = resolve;
    if (!this.#lifetime.signal.aborted) await atMost(ms, promise);
    this.#wakeUp = () => {};
  }
}

function statusOf(state: State): Pick<McpStatus, 'status' | 'problem' | 'authorizationUrl'> {
  switch (state.kind) {
    case 'connecting':
    case 'up':
      return { status: state.kind };
    case 'lost':
      return { status: 'connecting', problem: state.problem };
    case 'down': {
      const { problem, authorizationUrl } = state;
      return { status: 'down', problem, ...(authorizationUrl === undefined ? {} : { authorizationUrl }) };
    }
  }
}

/** The server cannot be reached any more. */
class ServerGone extends Error {}

/**
 * Removes secrets from a result. A question is stored before the rest of the gateway sees it. Its state is sent back to
 * the server unchanged.
 */
function withoutSecrets(result: unknown, secrets: KnownSecrets): unknown {
  const asked = (result ?? {}) as { readonly inputRequests?: unknown };
  return asked.inputRequests === undefined
    ? result
    : { ...asked, inputRequests: secrets.removeFromAll(asked.inputRequests) };
}
