import { isNeverSent } from '../../../ports/egress/never-sent.ts';

/**
 * Why a call has no result.
 * - `answered`: the server answered with an error.
 * - `malformed`: the server answered with a result that cannot be read. It has acted.
 * - `refused`: the server did not accept this call, and nothing happened. The connection is good.
 * - `not-sent`: the call did not get through, so nothing happened. A new connection may help.
 * - `lost`: it is unknown whether the server acted.
 */
export interface CallFailure {
  readonly kind: 'answered' | 'malformed' | 'refused' | 'not-sent' | 'lost';
  readonly message: string;
}

/** The error of a call whose stream ended before the answer. */
export const STREAM_ENDED: { readonly code: number; readonly message: string } = {
  code: -32_000,
  message: 'The connection ended before the answer.',
};

/** Reads the errors of the MCP client by their fields, so that its classes need not be loaded. */
export function callFailure(error: unknown): CallFailure {
  const { code, message, data, status } = (error ?? {}) as Record<string, unknown>;
  const text = shorten(typeof message === 'string' ? message : String(error));
  const httpStatus = status ?? (data as { status?: unknown } | undefined)?.status;
  if ((error as Error | undefined)?.name === 'UnauthorizedError') return { kind: 'not-sent', message: text };
  if (isNeverSent(error) || code === 'NOT_CONNECTED') return { kind: 'not-sent', message: text };
  if (typeof httpStatus === 'number') return { kind: kindOf(httpStatus), message: `HTTP ${httpStatus}: ${text}` };
  if (code === STREAM_ENDED.code && text.includes(STREAM_ENDED.message)) return { kind: 'lost', message: text };
  if (code === URL_NEEDED) return { kind: 'answered', message: `${text}${urlsIn(data)}` };
  if (MALFORMED.has(code)) return { kind: 'malformed', message: text };
  const isAnswer = typeof code === 'number' || code === 'CAPABILITY_NOT_SUPPORTED';
  return { kind: isAnswer ? 'answered' : 'lost', message: text };
}

/** A server of 2025-11-25 requires that a person visits a page before the tool can be called. */
const URL_NEEDED = -32_042;

/** Only http and https URLs, as text: the person who reads it decides whether to open it. */
function urlsIn(data: unknown): string {
  const { elicitations } = (data ?? {}) as { readonly elicitations?: unknown };
  const urls = (Array.isArray(elicitations) ? elicitations : [])
    .map(({ url }: { url?: unknown } = {}) => url)
    .filter((url): url is string => typeof url === 'string' && /^https?:\/\//i.test(url) && URL.canParse(url));
  if (urls.length === 0) return '';
  return ` A person must open this page in a browser. Then the tool can be called again: ${shorten(urls.join(' , '))}`;
}

/** A server that refuses the request has not run the tool. A server that failed may have. */
function kindOf(status: number): 'refused' | 'not-sent' | 'lost' {
  if (status < 300 || status >= 500) return 'lost';
  return status < 400 || NEEDS_CONNECTION.has(status) ? 'not-sent' : 'refused';
}

/** Statuses for a session or a token that the server no longer knows. Any other refusal is about the call alone. */
const NEEDS_CONNECTION: ReadonlySet<number> = new Set([400, 401, 404, 410]);

/** The client's error codes for an answer that it does not understand. */
const MALFORMED: ReadonlySet<unknown> = new Set(['INVALID_RESULT', 'UNSUPPORTED_RESULT_TYPE']);

function shorten(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500).toWellFormed()}…` : text;
}
