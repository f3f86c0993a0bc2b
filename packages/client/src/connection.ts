import { type Auth, type Credentials, toCredentials } from './auth.ts';
import { type Backoff, backoffMs, pause } from './backoff.ts';
import { ClientError, toClientError } from './client-error.ts';
import { createGatewayClock, type GatewayClock } from './gateway-clock.ts';
import { jsonLines } from './json-lines.ts';
import type { Operations } from './wire.generated.ts';

export interface ClientOptions {
  /** Where the gateway is, e.g. `http://127.0.0.1:4100`, or `https://example.com/agents` behind a proxy. Default: the origin of the page. */
  readonly url?: string;
  readonly auth: Auth;
  /** The project to act in, for keys that see all projects. Default: all of them, and new things belong to `default`. */
  readonly project?: string | undefined;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
  /** How long to wait before a request is repeated or a stream opened again. */
  readonly backoff?: Backoff;
  /** How often a request is sent at most, if it is safe to repeat. Default 5. */
  readonly attempts?: number;
  /** How long one try may take, in milliseconds. Default 30,000; 300,000 for requests of `chat`. Streams have no limit. */
  readonly timeoutMs?: number;
  /** After how much silence a stream is taken for dead, in milliseconds. Default 40,000: the gateway says something every 15 s. */
  readonly silenceMs?: number;
}

type OperationName = keyof Operations & string;

/** What every request may be given. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

interface Sent<O extends OperationName> extends RequestOptions {
  readonly params?: Operations[O]['params'];
  readonly query?: Operations[O]['query'] | undefined;
  readonly body?: Operations[O]['body'];
  readonly headers?: Readonly<Record<string, string>>;
  /** How long one try may take, in milliseconds. Default: `timeoutMs` of the client. */
  readonly timeoutMs?: number;
  /** True if sending it again does nothing twice. Default: of GET. */
  readonly isRepeatable?: boolean;
  /** True if it is not repeated even when the gateway asks the client to try again later: the caller waits for the answer. */
  readonly isSentOnce?: boolean;
}

/** What is sent to open a stream: a POST if it has a body. */
export interface StreamRequest {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends requests to one gateway. */
export interface Connection {
  readonly options: ClientOptions;
  readonly clock: GatewayClock;
  call<O extends OperationName>(operation: O, sent?: Sent<O>): Promise<Operations[O]['answer']>;
  /** Reads JSON lines as they arrive. It is sent once. */
  lines(path: string, query: object, options?: Pick<RequestOptions, 'signal'>): AsyncIterable<unknown>;
  /** Opens a stream. It is not repeated here: the reader knows where to resume. */
  open(request: StreamRequest, options: { lastEventId: string | undefined; signal: AbortSignal }): Promise<Response>;
}

export function connect(options: ClientOptions): Connection {
  assertUrl(options);
  const access: Access = { options, credentials: toCredentials(options.auth), clock: createGatewayClock() };
  return {
    options,
    clock: access.clock,
    call: (operation, sent = {}) => call(access, operation, sent),
    async *lines(path, query, { signal } = {}) {
      const init = { method: 'GET', headers: {}, ...(signal === undefined ? {} : { signal }) };
      const { body } = await fetchOnce(access, urlOf(options, path, query), init).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw asClientError(error);
      });
      yield* jsonLines(body);
    },
    open: ({ path, body, headers }, { lastEventId, signal }) =>
      fetchOnce(access, urlOf(options, path), {
        method: body === undefined ? 'GET' : 'POST',
        ...withBody(body, {
          ...headers,
          accept: 'text/event-stream',
          ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
        }),
        signal,
      }),
  };
}

interface Access {
  readonly options: ClientOptions;
  readonly credentials: Credentials;
  readonly clock: GatewayClock;
}

async function call<O extends OperationName>(
  access: Access,
  operation: O,
  sent: Sent<O>,
): Promise<Operations[O]['answer']> {
  const { params, query, body, signal, isRepeatable = operation.startsWith('GET '), isSentOnce = false } = sent;
  const { backoff } = access.options;
  const timeoutMs = sent.timeoutMs ?? access.options.timeoutMs ?? 30_000;
  const attempts = isSentOnce ? 1 : attemptsOf(access.options);
  const [method = '', template = ''] = operation.split(' ');
  const url = urlOf(access.options, fill(template, params ?? {}), query);
  const init = { method, ...withBody(body, sent.headers) };
  for (let attempt = 1; ; attempt++) {
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      const both = signal === undefined ? limit : AbortSignal.any([signal, limit]);
      return (await readJson(await fetchOnce(access, url, { ...init, signal: both }))) as Operations[O]['answer'];
    } catch (error) {
      signal?.throwIfAborted();
      const failure = asClientError(error);
      if (attempt >= attempts || !(isRepeatable ? mayPass(failure) : wasRefused(failure))) throw failure;
      await pause(failure.retryAfterMs ?? backoffMs(attempt, backoff), signal);
      signal?.throwIfAborted();
    }
  }
}

/** A proxy may answer with a page, e.g. to log in. */
function readJson(response: Response): Promise<unknown> {
  return response.json().catch((cause: unknown) => {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new ClientError('unreachable', "The answer is not a gateway's JSON. Check the URL and the proxy.", { cause });
  });
}

/** How often a request is sent at most. */
export function attemptsOf({ attempts = 5 }: ClientOptions): number {
  return attempts;
}

function withBody(body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit {
  if (body === undefined) return { headers };
  if (body instanceof Blob) return { body, headers };
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } };
}

/** One try. A refused token is renewed first: a request that was refused for it did nothing. */
async function fetchOnce({ options, credentials, clock }: Access, url: string, init: RequestInit): Promise<Response> {
  for (let isRenewed = false; ; isRenewed = true) {
    const project = options.project === undefined ? {} : { 'lastcall-project': options.project };
    const shown = await credentials.headers(init.signal);
    const headers = { ...init.headers, ...project, ...shown };
    const sentAt = Date.now();
    const response = await (options.fetch ?? fetch)(url, {
      ...init,
      headers,
      ...(options.auth === 'session' ? { credentials: 'same-origin' as const } : {}),
    }).catch((cause: unknown) => {
      throw init.signal?.aborted === true ? cause : unreachable(url, cause);
    });
    clock.learn(response.headers, sentAt);
    if (response.ok) return response;
    if (response.status !== 401 || isRenewed || !credentials.renew(shown)) throw await toClientError(response);
    await response.body?.cancel();
  }
}

/** Whether trying again may help. */
export function mayPass({ code, status }: ClientError): boolean {
  if (TEMPORARY.has(status ?? 0)) return true;
  return code === 'unreachable' && (status === undefined || status >= 500);
}

/** Without 502: the gateway's own says that a run has failed, which stays so. That of a proxy has no code of ours. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 429, 500, 503, 504]);

/** Whether the gateway itself says that it did nothing, and asks to come back. */
function wasRefused({ code, status, details }: ClientError): boolean {
  if (code === 'unreachable') return false;
  return status === 429 || (status === 503 && (details as { inDoubt?: unknown } | undefined)?.inDoubt !== true);
}

export function asClientError(error: unknown): ClientError {
  if (error instanceof ClientError) return error;
  const { name, message } = error as Error;
  return new ClientError('unreachable', name === 'TimeoutError' ? 'The gateway did not answer in time.' : message, {
    cause: error,
  });
}

function unreachable(url: string, cause: unknown): ClientError {
  return new ClientError('unreachable', `The gateway at ${new URL(url).origin} does not answer.`, { cause });
}

function fill(template: string, params: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** What there is of a page, where there is one. */
const page = globalThis as { readonly location?: { readonly origin: string } };

/** Otherwise each request fails for a reason that waiting does not cure, and streams try for ever. */
function assertUrl({ url }: ClientOptions): void {
  if (url === undefined || (/^https?:\/\/./i.test(url) && URL.canParse(url))) return;
  throw new TypeError(
    `The url of a client begins with http:// or https://, as http://127.0.0.1:4100 does. "${url}" does not.`,
  );
}

/** Only a request shows that there is no page: the module of a page may be loaded on a server first. */
export function originOf({ url = page.location?.origin }: ClientOptions): string {
  if (url !== undefined) return url;
  throw new TypeError(
    'The client has no url, and there is no page whose origin it could use. Give createClient a url.',
  );
}

function urlOf(options: ClientOptions, path: string, query: object = {}): string {
  const target = new URL(originOf(options).replace(/\/+$/, '') + path);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) target.searchParams.set(name, String(value));
  return target.href;
}
