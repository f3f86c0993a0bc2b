import { CommandFailed, EXIT } from './exit-code.ts';

export interface ApiOptions {
  /** Default: `LASTCALL_URL`, or the address of `HOST` and `PORT`. */
  readonly url?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

interface ApiRequest {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The HTTP API of a running gateway. If the gateway refuses a request, the command ends with the gateway's message. */
export class Api {
  readonly url: string;
  readonly #key: string | undefined;

  constructor({ url, env = process.env }: ApiOptions) {
    this.url = (url ?? env.LASTCALL_URL ?? `http://${localHost(env.HOST)}:${env.PORT || 4100}`).replace(/\/+$/, '');
    this.#key = env.LASTCALL_SECRET_KEY || undefined;
  }

  get hasKey(): boolean {
    return this.#key !== undefined;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the commands read few fields.
  async get(path: string): Promise<any> {
    return await (await this.request('GET', path)).json();
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async post(path: string, body: object): Promise<any> {
    return await (await this.request('POST', path, { body })).json();
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async delete(path: string): Promise<any> {
    return await (await this.request('DELETE', path)).json();
  }

  async request(method: string, path: string, { body, headers = {}, signal }: ApiRequest = {}): Promise<Response> {
    const response = await this.#send(path, {
      method,
      headers: {
        ...(this.#key === undefined ? {} : { authorization: `Bearer ${this.#key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    });
    if (!response.ok) throw await this.#refusal(response);
    return response;
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(this.url + path, init);
    } catch (cause) {
      if (init.signal?.aborted) throw cause;
      const message = `No gateway answers at ${this.url}. Start one with "lastcall start", or name its address with --url.`;
      throw new CommandFailed(message, { exitCode: EXIT.notReached, cause });
    }
  }

  async #refusal(response: Response): Promise<CommandFailed> {
    if (response.status === 401 || response.status === 403) return this.#notAllowed(response.status);
    const body = await response.text();
    const message = messageIn(body) ?? `${this.url} answered ${response.status}.`;
    return new CommandFailed(message, { status: response.status });
  }

  #notAllowed(status: number): CommandFailed {
    const message =
      this.#key === undefined
        ? `${this.url} needs a key: set LASTCALL_SECRET_KEY in the environment, or write it into .env.`
        : status === 401
          ? `${this.url} does not know the key in LASTCALL_SECRET_KEY.`
          : 'The key in LASTCALL_SECRET_KEY does not allow this: it takes one with the scope admin.';
    return new CommandFailed(message, { exitCode: EXIT.notReached, status });
  }
}

/** Reads all pages of a list, up to `most` items. */
export async function listAll(api: Api, path: string, most = 10_000): Promise<readonly Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  for (let cursor: string | undefined; ; ) {
    const query = `${path.includes('?') ? '&' : '?'}limit=100${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const page = await api.get(path + query);
    items.push(...page.items);
    cursor = page.next;
    if (cursor === undefined || items.length >= most) return items;
  }
}

/** A gateway that listens on all addresses is reached on loopback. */
function localHost(host: string | undefined): string {
  if (host === undefined || host === '' || host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

function messageIn(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { error?: { message?: string } }).error?.message;
  } catch {
    return undefined;
  }
}
