import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '@lastcall/core/internal';
import { Client } from 'pg';

export interface ReconnectingClientOptions {
  readonly url: string;
  /** Called each time a connection is made. */
  readonly onConnect: (client: Client) => Promise<void>;
  readonly onNotification?: (payload: string) => void;
  /** Called with the reason when a connection breaks. */
  readonly onBreak: (error: unknown) => void;
  /** Called with the reason when no new connection could be made for some time: after about two seconds, and then about once a minute. */
  readonly onAway: (error: unknown) => void;
}

const RETRY = { firstMs: 50, maxMs: 2_000 };
/** By then a database that was restarted has usually come back. */
const AWAY_ATTEMPTS = 6;
const AWAY_EVERY = 30;
/** How often the connection is checked. Without the check, a connection that died silently would not be noticed. */
const CHECK_MS = 10_000;
const TIMEOUT_MS = 5_000;
const END_MS = 1_000;

/** A connection to PostgreSQL that reconnects whenever it breaks. */
export class ReconnectingClient {
  readonly #options: ReconnectingClientOptions;
  readonly #ending = new AbortController();
  #client: Client | undefined;
  #checkTimer: NodeJS.Timeout | undefined;

  constructor(options: ReconnectingClientOptions) {
    this.#options = options;
  }

  /** Rejects if the first connection fails. */
  async start(): Promise<void> {
    await this.#connect();
    this.#checkTimer = setInterval(() => this.#check(), CHECK_MS);
    this.#checkTimer.unref();
  }

  /** Rejects while there is no connection. */
  async query(text: string, values: unknown[] = []): Promise<void> {
    if (this.#client === undefined) throw new Error('There is no connection to the database now.');
    await this.#client.query(text, values);
  }

  async end(): Promise<void> {
    this.#ending.abort();
    clearInterval(this.#checkTimer);
    const closing = this.#client?.end().catch(() => {});
    await Promise.race([closing, sleep(END_MS, undefined, { ref: false })]);
  }

  async #connect(): Promise<void> {
    const { url, onConnect, onNotification } = this.#options;
    const client = new Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
    });
    // The caller of a query gets its error. This listener is needed because an unhandled 'error' event would end the
    // process.
    client.on('error', () => {});
    if (onNotification !== undefined) client.on('notification', ({ payload = '' }) => onNotification(payload));
    try {
      await client.connect();
      this.#client = client;
      await onConnect(client);
      // `end` was called while the connection was being made and may not have seen it, so it must be closed here.
      if (this.#ending.signal.aborted) throw new Error('The client was ended while it was connecting.');
    } catch (error) {
      this.#client = undefined;
      client.end().catch(() => {});
      throw error;
    }
    client.on('error', (error) => this.#onLost(client, error));
    client.on('end', () => this.#onLost(client, new Error('The connection ended.')));
  }

  #onLost(client: Client, error: unknown): void {
    if (client !== this.#client || this.#ending.signal.aborted) return;
    this.#client = undefined;
    client.end().catch(() => {});
    this.#options.onBreak(error);
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#ending;
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        return await this.#connect();
      } catch (error) {
        if (!signal.aborted && attempt % AWAY_EVERY === AWAY_ATTEMPTS) this.#options.onAway(error);
        await sleep(backoffMs(attempt, RETRY), undefined, { signal }).catch(() => {});
      }
    }
  }

  #check(): void {
    const client = this.#client;
    client?.query('select 1').catch((error: unknown) => this.#onLost(client, error));
  }
}
