import { pipeline } from 'node:stream/promises';
import { type Client, ClientError, type ClientOptions, createClient } from '@lastcall/client';
import { CommandFailed, EXIT } from './exit-code.ts';
import { withVisibleControls } from './terminal/output.ts';

export interface ApiOptions {
  /** Default: `LASTCALL_URL`, or the address of `HOST` and `PORT`. */
  readonly url?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A test of a tool may take as long as the tool. */
const TIMEOUT_MS = 300_000;

/** How long a command waits for the description of the API, which it only needs if a proxy hides the gateway's headers. */
const DESCRIBE_MS = 10_000;

/** The id that a gateway gives each of its answers: a UUID of version 7. */
const OWN_ID = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/;

/** The HTTP API of a running gateway. If the gateway refuses a request, the command ends with the gateway's message. */
export class Api {
  readonly url: string;
  readonly #key: string | undefined;
  readonly #project: string | undefined;
  readonly #client: Client;
  #checked: Promise<void> | undefined;

  constructor({ url, env = process.env }: ApiOptions) {
    this.url = addressOf(url, env);
    this.#key = headerOf(env, 'LASTCALL_SECRET_KEY');
    this.#project = headerOf(env, 'LASTCALL_PROJECT');
    // A person at a terminal sees the failure at once.
    this.#client = this.clientWith({ attempts: 1, timeoutMs: TIMEOUT_MS });
  }

  get hasKey(): boolean {
    return this.#key !== undefined;
  }

  /** Sends a request. A refusal ends the command, in the gateway's own words. */
  async ask<T>(request: (client: Client) => Promise<T>): Promise<T> {
    return await request(this.#client).catch((error: unknown) => {
      throw error instanceof ClientError ? this.#refusal(error) : error;
    });
  }

  /** Writes the text of a response as it arrives, with visible control characters. */
  async download(path: string, to: NodeJS.WritableStream): Promise<void> {
    const headers = {
      ...(this.#key === undefined ? {} : { authorization: `Bearer ${this.#key}` }),
      ...(this.#project === undefined ? {} : { 'lastcall-project': this.#project }),
    };
    const answer = await this.#fetch(`${this.url}${path}`, { headers }).catch((cause: unknown) => {
      throw cause instanceof CommandFailed ? cause : this.#unreachable(cause);
    });
    const { status, body } = answer;
    if (status === 401 || status === 403) throw this.#notAllowed(status);
    if (!answer.ok || body === null) {
      // A proxy answers with HTML.
      const { error } = (await answer.json().catch(() => ({}))) as { error?: { message?: string } };
      throw new CommandFailed(error?.message ?? `${this.url} answered ${status}, without saying why.`, { status });
    }
    const texts = body.pipeThrough(new TextDecoderStream());
    await pipeline(texts, visible, to, { end: false }).catch((cause: unknown) => {
      throw new CommandFailed('The connection to the gateway was lost, so what was printed is not complete.', {
        cause,
      });
    });
  }

  /** A client of the same gateway that repeats requests. */
  clientWith(options: Pick<ClientOptions, 'attempts' | 'backoff' | 'timeoutMs'>): Client {
    const auth = this.#key === undefined ? 'none' : { key: this.#key };
    const ask: typeof fetch = (address, init) => this.#fetch(address, init);
    return createClient({ url: this.url, auth, project: this.#project, fetch: ask, ...options });
  }

  /** Another program may answer any request with 200, which would be read as an answer of a gateway. */
  async #fetch(...request: Parameters<typeof fetch>): Promise<Response> {
    const answer = await fetch(...request);
    if (answer.ok && !OWN_ID.test(answer.headers.get('x-request-id') ?? '')) {
      this.#checked ??= this.#assertGateway(answer.status);
      await this.#checked;
    }
    return answer;
  }

  /**
   * For an answer without the gateway's own header, which a proxy may have removed or replaced. The proxy may also not pass on the description:
   * it is another program only if it answers with something else.
   */
  async #assertGateway(status: number): Promise<void> {
    const answer = await fetch(`${this.url}/openapi.json`, { signal: AbortSignal.timeout(DESCRIBE_MS) }).catch(
      () => null,
    );
    if (answer === null || !answer.ok) return;
    const described = (await answer.json().catch(() => null)) as { info?: { title?: unknown } } | null;
    if (described?.info?.title === 'Lastcall gateway') return;
    const message = `Another program answers at ${this.url}, and not a gateway. Name the gateway's address with --url or LASTCALL_URL.`;
    throw new CommandFailed(message, { exitCode: EXIT.notReached, status });
  }

  #refusal(error: ClientError): CommandFailed {
    const { status, message, code } = error;
    // A key may also be limited to a project, or to certain paths: then the gateway says so.
    const [, scope] = /scope "(\w+)"/.exec(message) ?? [];
    if (status === 401 || (status === 403 && scope !== undefined))
      return this.#notAllowed(status, { scope, cause: error });
    if (status === 403) return new CommandFailed(message, { exitCode: EXIT.notReached, status, cause: error });
    if (error.cause instanceof CommandFailed) return error.cause;
    if (code !== 'unreachable' || status !== undefined) return new CommandFailed(message, { status, cause: error });
    return this.#unreachable(error);
  }

  #unreachable(cause: unknown): CommandFailed {
    const message = `No gateway answers at ${this.url}. Start one with "lastcall start", or name its address with --url.`;
    return new CommandFailed(message, { exitCode: EXIT.notReached, cause });
  }

  #notAllowed(
    status: number,
    { scope = 'admin', cause }: { scope?: string | undefined; cause?: unknown } = {},
  ): CommandFailed {
    const message =
      this.#key === undefined
        ? `${this.url} needs a key: set LASTCALL_SECRET_KEY in the environment, or write it into .env.`
        : status === 401
          ? `${this.url} does not know the key in LASTCALL_SECRET_KEY.`
          : `The key in LASTCALL_SECRET_KEY does not allow this: it takes one with the scope ${scope}.`;
    return new CommandFailed(message, { exitCode: EXIT.notReached, status, cause });
  }
}

async function* visible(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield withVisibleControls(text);
}

function addressOf(url: string | undefined, { LASTCALL_URL, HOST, PORT }: NonNullable<ApiOptions['env']>): string {
  if (url !== undefined) return checkAddress(url, '--url');
  // An empty variable counts as not set.
  if (LASTCALL_URL) return checkAddress(LASTCALL_URL, 'LASTCALL_URL');
  return checkAddress(`http://${localHost(HOST)}:${PORT || 4100}`, 'HOST and PORT together');
}

/** Only such characters can be sent. A key that was copied from a text may have its quotation marks. */
function headerOf(
  env: NonNullable<ApiOptions['env']>,
  name: 'LASTCALL_SECRET_KEY' | 'LASTCALL_PROJECT',
): string | undefined {
  const value = env[name];
  if (value !== undefined && !/^[\x20-\x7e]*$/.test(value.trim()))
    throw new CommandFailed(`${name} has characters that it cannot have. Copy it again, without quotation marks.`, {
      exitCode: EXIT.usage,
    });
  return value || undefined;
}

/** Without a check, "localhost:4100" would be taken for a URL with the scheme "localhost", and no gateway would seem to answer. */
function checkAddress(address: string, source: string): string {
  const { protocol = '', username = '', password = '' } = URL.parse(address) ?? {};
  // Requests to an address with a user are never sent.
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '')
    throw new CommandFailed(`${source} must be an address such as http://127.0.0.1:4100.`, { exitCode: EXIT.usage });
  return address.trim().replace(/\/+$/, '');
}

/** A gateway that listens on all addresses is reached on loopback. */
function localHost(host: string | undefined): string {
  if (host === undefined || host === '' || host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
