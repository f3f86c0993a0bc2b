import type { LookupFunction, Socket } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { LastcallError } from '@lastcall/core';
import { type EgressRule, parseEgressRule } from '../../config/egress-rule.ts';
import { EgressRefused } from './egress-refused.ts';
import type { GuardedAgent, Target } from './guarded-agent.ts';
import { isNeverSent } from './never-sent.ts';
import { isRedirect, redirected, type SentRequest } from './redirect.ts';
import { RedirectFailed } from './redirect-failed.ts';
import { vettedUrl } from './vetted-url.ts';
import { webStream } from './web-stream.ts';

/**
 * All outgoing connections that a configuration, a model or an external server can cause go through this interface. It
 * connects only to global unicast addresses and to what `egress.allow` opens.
 */
export interface Egress {
  /** Sends a request and follows its redirects. The body of the response is a stream: read it, or destroy it. */
  request(request: EgressRequest): Promise<EgressResponse>;
  /** The web's `fetch`, for libraries that take one. When a request is redirected, its body is treated as secret. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** Opens a connection for another protocol than HTTP. The signal closes it, also after it is open. */
  connect(target: Target, signal?: AbortSignal): Promise<Socket>;
  /** Replaces the allow list. Connections that are no longer allowed are closed at once. */
  setAllow(allow: readonly string[]): void;
  close(): Promise<void>;
}

export interface EgressRequest {
  readonly url: string | URL;
  /** Default GET. */
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
  /** `manual` returns the redirect response, `error` refuses it. Default `follow`. */
  readonly redirect?: 'follow' | 'manual' | 'error' | undefined;
  /** Says whether a text contains one of the request's secrets. Default: true for every body. */
  readonly holdsSecret?: ((text: string) => boolean) | undefined;
}

export interface EgressResponse {
  readonly status: number;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
  /** The URL after all redirects. */
  readonly url: URL;
}

export interface EgressOptions {
  /** `host`, `host:port`, `10.1.2.0/24:8080`, `[fd00::1]:443`. */
  readonly allow?: readonly string[] | undefined;
  /** Resolves names. Default: the system's. */
  readonly lookup?: LookupFunction | undefined;
}

const MOST_REDIRECTS = 3;

export function createEgress({ allow = [], lookup }: EgressOptions = {}): Egress {
  let rules = readRules(allow);
  let agent: Promise<GuardedAgent> | undefined;
  // Loaded with the first request, because it takes longer to load than everything else in a small gateway.
  const loadAgent = async (): Promise<GuardedAgent> =>
    (await import('./guarded-agent.ts')).guardedAgent(() => rules, lookup);
  const send = async (sent: SentRequest, signal: AbortSignal | undefined): Promise<EgressResponse> => {
    agent ??= loadAgent();
    const { dispatcher } = await agent;
    const { url, method, headers, body = null } = sent;
    const { statusCode, ...answer } = await dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: method as 'GET',
      headers,
      body,
      signal: signal ?? null,
    });
    return { status: statusCode, headers: answer.headers, body: answer.body, url };
  };

  async function request({
    signal,
    holdsSecret,
    redirect = 'follow',
    ...given
  }: EgressRequest): Promise<EgressResponse> {
    let sent = toSent(given);
    let response = await send(sent, signal);
    try {
      for (let redirects = 0; redirect !== 'manual'; redirects++) {
        const { status, headers, body, url } = response;
        const location = firstOf(headers.location);
        if (!isRedirect(status, location)) break;
        discard(body);
        if (redirect === 'error') throw new EgressRefused(url.host, 'it redirects');
        if (redirects === MOST_REDIRECTS)
          throw new EgressRefused(url.host, `it redirects more than ${MOST_REDIRECTS} times`);
        sent = redirected(sent, { status, location }, holdsSecret);
        response = await send(sent, signal);
      }
    } catch (error) {
      throw isNeverSent(error) ? new RedirectFailed(error) : error;
    }
    const encoding = sent.method === 'HEAD' ? undefined : firstOf(response.headers['content-encoding']);
    return { ...response, body: decodedBody(response.body, encoding) };
  }

  return {
    request,
    fetch: (input, init) => webFetch(request, new Request(input, init)),
    async connect(target, signal) {
      agent ??= loadAgent();
      return await (await agent).connect(target, signal);
    },
    setAllow(next) {
      rules = readRules(next);
      void agent?.then(({ dropClosed }) => dropClosed());
    },
    async close() {
      const opened = await agent;
      agent = undefined;
      await opened?.dispatcher.destroy();
    },
  };
}

function readRules(allow: readonly string[]): readonly EgressRule[] {
  return allow.map((text) => {
    const rule = parseEgressRule(text);
    // The configuration was checked before, so this is a bug in the gateway. The rule must not be dropped silently.
    if (rule === undefined) throw new TypeError(`"${text}" is not a rule of egress.allow.`);
    return rule;
  });
}

function toSent({ url, method = 'GET', headers = {}, body }: EgressRequest): SentRequest {
  const vetted = vettedUrl(url);
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  // A Host header would select another site on the server than the URL that was checked.
  if (named.some(([name]) => name === 'host')) throw new EgressRefused(vetted.host, 'a Host header is given');
  const all = { 'accept-encoding': 'identity', ...Object.fromEntries(named) };
  return { url: vetted, method: method.toUpperCase(), headers: all, body };
}

async function webFetch(send: Egress['request'], given: Request): Promise<Response> {
  const body = given.body === null ? undefined : new Uint8Array(await given.arrayBuffer());
  const { url, method, signal, redirect } = given;
  const headers = Object.fromEntries(given.headers);
  const response = await send({ url, method, headers, body, signal, redirect });
  const isEmpty = method === 'HEAD' || [101, 204, 205, 304].includes(response.status);
  if (isEmpty) discard(response.body);
  const stream = isEmpty ? null : webStream(response.body);
  return new Response(stream, { status: response.status, headers: toHeaders(response.headers) });
}

function toHeaders(headers: EgressResponse['headers']): Headers {
  const all = new Headers();
  // The body is already decoded, so the length in the header is wrong.
  for (const [name, value = []] of Object.entries(headers))
    if (name !== 'content-encoding' && !(name === 'content-length' && headers['content-encoding'] !== undefined))
      for (const one of [value].flat()) all.append(name, one);
  return all;
}

/** Closes a body that is not read: it might never end. */
function discard(body: Readable): void {
  body.on('error', () => {}).destroy();
}

function firstOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

const DECODERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;

/**
 * The body as a stream, without the server's compression. We do not ask for compression, but a server may still use it.
 */
function decodedBody(body: Readable, encoding: string | undefined): Readable {
  const name = encoding?.trim().toLowerCase() ?? 'identity';
  if (name === 'identity' || name === '') return body;
  if (!Object.hasOwn(DECODERS, name)) {
    body.on('error', () => {}).destroy();
    throw new LastcallError('content_encoding', 'The response has a content encoding that is not supported.');
  }
  // The error is ignored here because the reader of the decoded stream gets it.
  return pipeline(body, DECODERS[name as keyof typeof DECODERS](), () => {});
}
