import { EgressRefused } from './egress-refused.ts';
import { vettedUrl } from './vetted-url.ts';

/** A request to one URL. */
export interface SentRequest {
  readonly url: URL;
  readonly method: string;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Headers that may be sent to another origin unless they contain a secret. All other headers might be credentials, so
 * they are dropped.
 */
const HARMLESS_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-language',
  'content-type',
  'idempotency-key',
  'user-agent',
]);

const BODY_HEADERS: ReadonlySet<string> = new Set(['content-type', 'content-language', 'content-encoding']);

export function isRedirect(status: number, location: string | undefined): location is string {
  return location !== undefined && REDIRECTS.has(status);
}

/**
 * Returns the request that follows a redirect, by fetch's rules, or throws if that would be unsafe. `holdsSecret` says
 * whether a text contains one of the request's secrets. Without it, every body is treated as if it did.
 */
export function redirected(
  sent: SentRequest,
  { status, location }: { readonly status: number; readonly location: string },
  holdsSecret?: (text: string) => boolean,
): SentRequest {
  const url = vettedUrl(location, sent.url);
  if (sent.url.protocol === 'https:' && url.protocol === 'http:')
    throw new EgressRefused(url.host, 'a redirect leads from https to http');
  const next = withMethodFor(status, sent);
  if (url.origin === sent.url.origin) return { ...next, url };
  if (next.body !== undefined && (holdsSecret?.(textOf(next.body)) ?? true))
    throw new EgressRefused(url.host, 'a redirect would send the body with its secrets to another origin');
  if (holdsSecret?.(url.href) === true)
    throw new EgressRefused(url.host, 'a redirect would send a secret to another origin');
  const isHarmless = (name: string, value: string): boolean =>
    HARMLESS_HEADERS.has(name) && holdsSecret?.(value) !== true;
  return { ...next, url, headers: only(next.headers, isHarmless) };
}

/** 301 and 302 turn a POST into a GET, 303 everything but a HEAD; 307 and 308 change nothing. */
function withMethodFor(status: number, sent: SentRequest): SentRequest {
  const becomesGet =
    status === 303
      ? sent.method !== 'GET' && sent.method !== 'HEAD'
      : (status === 301 || status === 302) && sent.method === 'POST';
  if (!becomesGet) return sent;
  const headers = only(sent.headers, (name) => !BODY_HEADERS.has(name));
  return { ...sent, method: 'GET', body: undefined, headers };
}

function only(
  headers: SentRequest['headers'],
  isKept: (name: string, value: string) => boolean,
): SentRequest['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name, value]) => isKept(name, value)));
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : Buffer.from(body).toString();
}
