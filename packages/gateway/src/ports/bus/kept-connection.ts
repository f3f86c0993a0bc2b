import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

export interface KeptConnectionOptions {
  readonly url: string;
  /** Each time there is a connection. */
  readonly onConnect: (client: Client) => Promise<void>;
  readonly onNotification?: (payload: string) => void;
  /** Hears why a connection broke. */
  readonly onBreak: (error: unknown) => void;
}

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 2_000;
/** A connection that died without a word is found out by this. */
const PULSE_MS = 10_000;
const PATIENCE_MS = 5_000;
const END_MS = 1_000;

/** A connection to PostgreSQL that is made anew whenever it breaks. */
export class KeptConnection {
  readonly #options: KeptConnectionOptions;
  readonly #ending = new AbortController();
  #client: Client | undefined;
  #pulse: NodeJS.Timeout | undefined;

  constructor(options: KeptConnectionOptions) {
    this.#options = options;
  }

  /** Rejects if there is no connection to begin with. */
  async start(): Promise<void> {
    await this.#connect();
    this.#pulse = setInterval(() => this.#check(), PULSE_MS);
    this.#pulse.unref();
  }

  /** Rejects while there is no connection. */
  async query(text: string, values: unknown[] = []): Promise<void> {
    if (this.#client === undefined) throw new Error('There is no connection to the database now.');
    await this.#client.query(text, values);
  }

  async end(): Promise<void> {
    this.#ending.abort();
    clearInterval(this.#pulse);
    const closing = this.#client?.end().catch(() => {});
    await Promise.race([closing, sleep(END_MS, undefined, { ref: false })]);
  }

  async #connect(): Promise<void> {
    const { url, onConnect, onNotification } = this.#options;
    const client = new Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: PATIENCE_MS,
      query_timeout: PATIENCE_MS,
    });
    // What is wrong is heard from whoever waits for an answer; an error that nobody hears would end the process.
    client.on('error', () => {});
    if (onNotification !== undefined) client.on('notification', ({ payload = '' }) => onNotification(payload));
    try {
      await client.connect();
      this.#client = client;
      await onConnect(client);
      // Whoever ended it meanwhile may not have seen this connection: nobody else would close it.
      if (this.#ending.signal.aborted) throw new Error('The connection was ended while it was made.');
    } catch (error) {
      this.#client = undefined;
      client.end().catch(() => {});
      throw error;
    }
    client.on('error', (error) => this.#lose(client, error));
    client.on('end', () => this.#lose(client, new Error('The connection ended.')));
  }

  #lose(client: Client, error: unknown): void {
    if (client !== this.#client || this.#ending.signal.aborted) return;
    this.#client = undefined;
    client.end().catch(() => {});
    this.#options.onBreak(error);
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#ending;
    for (let delay = FIRST_RETRY_MS; !signal.aborted; delay = Math.min(2 * delay, LAST_RETRY_MS)) {
      try {
        return await this.#connect();
      } catch {
        await sleep(delay, undefined, { signal }).catch(() => {});
      }
    }
  }

  #check(): void {
    const client = this.#client;
    client?.query('select 1').catch((error: unknown) => this.#lose(client, error));
  }
}
