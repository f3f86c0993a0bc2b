import type { Logger } from '@lastcall/core';
import type { PriorDiscovery } from '@modelcontextprotocol/client';
import type { Egress } from '../../../ports/egress/egress.ts';
import type { KnownSecrets } from '../../../telemetry/known-secrets.ts';
import { atMost } from '../../at-most.ts';
import { type CallFailure, callFailure } from './call-failure.ts';
import type { McpDefinition } from './mcp-definition.ts';
import type { McpAddress, McpCall, McpClient } from './open-client.ts';
import { usableTools } from './usable-tools.ts';

/** The tools of a server that agents may use now. Another object only if something is different. */
export interface McpSnapshot {
  readonly tools: readonly McpDefinition[];
}

export interface McpConnectionOptions {
  readonly name: string;
  readonly transport: 'http' | 'stdio';
  /** How the server is reached. Throws if a secret is missing. */
  address(): Promise<McpAddress>;
  /** The page on which somebody is to authorise the gateway first. */
  authorizationUrl(): Promise<string | undefined>;
  readonly egress: Egress;
  readonly secrets: KnownSecrets;
  readonly logger: Logger;
  /** Returns the names of tools whose definitions changed and wait for approval. */
  findHeld(tools: readonly McpDefinition[]): Promise<ReadonlySet<string>>;
}

export type Called = { readonly result: unknown } | { readonly failure: CallFailure };

type CallOptions = Omit<McpCall, 'definition'> & {
  /** True if the tool may run twice: then a call that got lost is repeated. */
  readonly mayRepeat: boolean;
};

/** What an operator is shown of a server. */
export interface McpStatus {
  readonly status: 'connecting' | 'up' | 'down';
  readonly problem?: string;
  /** Where somebody must authorise the gateway, in a browser. */
  readonly authorizationUrl?: string;
  readonly tools: readonly string[];
  readonly held: readonly string[];
  readonly unusable: readonly string[];
}

/** The time until the next attempt to connect: with the attempt itself, a server is back within 10 s. */
const RETRY_MS = 3_000;
/** How often a server over HTTP is asked for its tools: nothing else would tell that it was restarted. */
const CHECK_MS = 5_000;
/** How long a cycle waits for a server that is new to this process, and a call for one that is away. */
const PATIENCE_MS = 5_000;
/** A changed list is waited for at the end of a call, so that the next step has it. */
const LIST_PATIENCE_MS = 2_000;
const MOST_ATTEMPTS = 3;
const MUST_BE_AUTHORIZED =
  'Somebody must authorise the gateway: open authorizationUrl of GET /api/mcp/servers in a browser.';
const NO_TOOLS: McpSnapshot = { tools: [] };

/** Keeps one server connected, as long as it is in use, and knows its tools. Agents that reach it in the same way share it. */
export class McpConnection {
  readonly #options: McpConnectionOptions;
  readonly #lifetime = new AbortController();
  readonly #attempted = Promise.withResolvers<void>();
  readonly #running: Promise<void>;
  #closing: Promise<void> = Promise.resolve();
  #client: McpClient | undefined;
  #prior: PriorDiscovery | undefined;
  /** Resolves with the next connection. */
  #up = Promise.withResolvers<void>();
  #snapshot = NO_TOOLS;
  #held: readonly string[] = [];
  #unusable: readonly string[] = [];
  #problem: string | undefined;
  #authorizationUrl: string | undefined;
  /** Resolves when the list has been read anew. Undefined: it is as the server said last. */
  #stale: PromiseWithResolvers<void> | undefined;
  #changes = 0;
  #hasFailedToList = false;
  #wakeUp: () => void = () => {};
  #inFlight = 0;
  #usedAt = performance.now();

  constructor(options: McpConnectionOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  get snapshot(): McpSnapshot {
    return this.#snapshot;
  }

  get status(): McpStatus {
    const names = this.#snapshot.tools.map(({ name }) => name);
    const details = { tools: names, held: this.#held, unusable: this.#unusable };
    if (this.#client !== undefined) return { status: 'up', ...details };
    return this.#problem === undefined
      ? { status: 'connecting', ...details }
      : { status: 'down', problem: this.#problem, ...this.#toAuthorize(), ...details };
  }

  #toAuthorize(): Pick<McpStatus, 'authorizationUrl'> {
    return this.#authorizationUrl === undefined ? {} : { authorizationUrl: this.#authorizationUrl };
  }

  /** How long nobody has used it. */
  get idleMs(): number {
    return this.#inFlight > 0 ? 0 : performance.now() - this.#usedAt;
  }

  /**
   * Resolves when the tools are known, or after a while without them: a server that is down does not stop an agent.
   * `isFresh`: the server is asked, also if its tools are known.
   */
  async ready({ isFresh = false }: { isFresh?: boolean } = {}): Promise<void> {
    this.#usedAt = performance.now();
    if (isFresh || this.#held.length > 0) this.#markStale();
    await atMost(PATIENCE_MS, this.#attempted.promise);
    await this.#settledList();
  }

  /** Calls a tool. Rejects only if the signal was aborted. */
  async call(definition: McpDefinition, { mayRepeat, ...call }: CallOptions): Promise<Called> {
    this.#usedAt = performance.now();
    for (let attempt = 1; ; attempt++) {
      const client = this.#client ?? (await this.#whenUp());
      if (client === undefined)
        return this.#failed({ kind: 'not-sent', message: this.#problem ?? 'it is not connected' });
      const called = await this.#callOnce(client, { ...call, definition });
      if ('result' in called || called.failure.kind === 'answered' || attempt === MOST_ATTEMPTS) return called;
      if (called.failure.kind === 'not-sent') this.#replace(client, called.failure.message);
      else {
        this.#markStale();
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
      const { secrets } = this.#options;
      const onAsk = (params: unknown) => call.onAsk(secrets.removeFromAll(params));
      const result = withoutSecrets(await client.call({ ...call, onAsk }), secrets);
      if (this.#stale !== undefined) await this.#settledList();
      return { result };
    } catch (error) {
      if (call.signal.aborted) throw error;
      return this.#failed(callFailure(error));
    } finally {
      this.#inFlight--;
    }
  }

  /** What a server says may repeat the secrets that it was sent. */
  #failed({ kind, message }: CallFailure): { readonly failure: CallFailure } {
    return { failure: { kind, message: this.#options.secrets.removeFrom(message) } };
  }

  async #whenUp(): Promise<McpClient | undefined> {
    await atMost(PATIENCE_MS, this.#up.promise);
    return this.#client;
  }

  async #settledList(): Promise<void> {
    if (this.#stale !== undefined) await atMost(LIST_PATIENCE_MS, this.#stale.promise);
  }

  #markStale(): void {
    if (this.#client === undefined) return;
    this.#changes++;
    this.#stale ??= Promise.withResolvers();
    this.#wakeUp();
  }

  #replace(client: McpClient, problem: string): void {
    if (this.#client !== client) return;
    this.#goDown(problem);
    this.#wakeUp();
  }

  async #run(): Promise<void> {
    for (let wasUp = false; !this.#lifetime.signal.aborted; ) {
      try {
        wasUp = false;
        await this.#connect(() => {
          wasUp = true;
        });
      } catch (error) {
        this.#goDown(await this.#describe(error));
      }
      this.#attempted.resolve();
      // A server that was just there may be back at once: a process is started anew.
      await this.#pause(wasUp ? 100 : RETRY_MS);
    }
  }

  async #connect(onUp: () => void): Promise<void> {
    const { address, egress, authorizationUrl } = this.#options;
    // Another attempt would ask for another authorization, while somebody is about to give the one that was asked for.
    if ((await authorizationUrl()) !== undefined) throw new Error(MUST_BE_AUTHORIZED);
    const { openClient } = await import('./open-client.ts');
    const prior = this.#prior;
    // The server may speak another version the next time.
    this.#prior = undefined;
    const { signal } = this.#lifetime;
    const client = await openClient(await address(), { egress, prior, signal, onListChanged: () => this.#markStale() });
    let isClosed = false;
    void client.closed.then(() => {
      isClosed = true;
      this.#wakeUp();
    });
    try {
      await this.#refresh(client);
      this.#prior = client.prior;
      this.#goUp(client);
      onUp();
      while (this.#client === client && !signal.aborted) {
        if (isClosed) throw new Error(`The connection is gone. ${client.lastWords()}`.trim());
        await this.#check(client);
      }
    } finally {
      this.#client = undefined;
      this.#closing = client.close().catch(() => {});
    }
  }

  /** Waits for something to do, and does it. */
  async #check(client: McpClient): Promise<void> {
    const isDue = this.#stale === undefined && (await this.#pause(CHECK_MS)) === 'timeout';
    const isPolled = isDue && this.#inFlight === 0 && (this.#options.transport === 'http' || this.#hasFailedToList);
    if (this.#client !== client || (this.#stale === undefined && !isPolled)) return;
    const changes = this.#changes;
    try {
      await this.#refresh(client);
      this.#hasFailedToList = false;
      // It may have changed again meanwhile.
      if (changes === this.#changes) this.#settleList();
    } catch (error) {
      this.#settleList();
      this.#hasFailedToList = true;
      // The calls under way learn by themselves whether the server is there.
      if (this.#inFlight === 0) throw error;
    }
  }

  #settleList(): void {
    this.#stale?.resolve();
    this.#stale = undefined;
  }

  async #refresh(client: McpClient): Promise<void> {
    const { secrets, findHeld } = this.#options;
    const listed = await client.list();
    // A definition may repeat secrets too, and is stored and shown to models.
    const { tools, problems } = await usableTools(secrets.removeFromAll(listed.tools));
    const held = await findHeld(tools);
    this.#tell([...listed.malformed.map((name) => `${name}: it is no tool`), ...problems], [...held]);
    const offered = tools.filter(({ name }) => !held.has(name));
    // The same object as long as nothing is different: what is made of it need not be made again.
    if (JSON.stringify(offered) !== JSON.stringify(this.#snapshot.tools)) this.#snapshot = { tools: offered };
  }

  #tell(unusable: readonly string[], held: readonly string[]): void {
    const { name, logger } = this.#options;
    if (unusable.length > 0 && unusable.join() !== this.#unusable.join())
      logger.warn(`Some tools of the MCP server "${name}" cannot be used.`, { unusable });
    if (held.length > 0 && held.join() !== this.#held.join())
      logger.warn(`Some tools of the MCP server "${name}" have changed and wait for approval.`, { held });
    this.#unusable = unusable;
    this.#held = held;
  }

  #goUp(client: McpClient): void {
    const { name, logger } = this.#options;
    if (this.#problem !== undefined) logger.info(`The MCP server "${name}" is back.`);
    this.#problem = undefined;
    this.#authorizationUrl = undefined;
    this.#client = client;
    this.#up.resolve();
    this.#up = Promise.withResolvers();
    this.#attempted.resolve();
  }

  #goDown(problem: string): void {
    const { name, logger } = this.#options;
    if (this.#lifetime.signal.aborted) return;
    if (this.#problem !== problem)
      logger.warn(`The MCP server "${name}" is down: its tools are not offered.`, { problem });
    this.#problem = problem;
    this.#client = undefined;
    this.#snapshot = NO_TOOLS;
    this.#settleList();
  }

  async #describe(error: unknown): Promise<string> {
    this.#authorizationUrl = await this.#options.authorizationUrl().catch(() => undefined);
    if (this.#authorizationUrl !== undefined) return MUST_BE_AUTHORIZED;
    return this.#options.secrets.removeFrom(callFailure(error).message);
  }

  async #pause(ms: number): Promise<'timeout' | 'woken'> {
    const { promise, resolve } = Promise.withResolvers<'timeout' | 'woken'>();
    const timer = setTimeout(resolve, ms, 'timeout');
    this.#wakeUp = () => resolve('woken');
    const why = this.#lifetime.signal.aborted ? 'woken' : await promise;
    clearTimeout(timer);
    this.#wakeUp = () => {};
    return why;
  }
}

/** A question is stored before the rest of the gateway sees it. Its state goes back to the server as it came. */
function withoutSecrets(result: unknown, secrets: KnownSecrets): unknown {
  const asked = (result ?? {}) as { readonly inputRequests?: unknown };
  return asked.inputRequests === undefined
    ? result
    : { ...asked, inputRequests: secrets.removeFromAll(asked.inputRequests) };
}
