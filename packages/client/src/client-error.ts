/** Why a request failed. `code` is the gateway's own, or `unreachable` if there was no answer of a gateway. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError';
  readonly code: string;
  /** The HTTP status. Undefined if there was no answer, or if a stream ended with the error. */
  readonly status: number | undefined;
  readonly details: unknown;
  /** To look the request up in the gateway's log. */
  readonly requestId: string | undefined;
  /** How long the gateway asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(code: string, message: string, more: Partial<Omit<ClientError, 'code' | 'message'>> = {}) {
    super(message, { cause: more.cause });
    this.code = code;
    this.status = more.status;
    this.details = more.details;
    this.requestId = more.requestId;
    this.retryAfterMs = more.retryAfterMs;
  }
}

/** An answer that is no success, as an error. It may come from a proxy, and then it has no code of ours. */
export async function toClientError(response: Response): Promise<ClientError> {
  const { error } = ((await response.json().catch(() => undefined)) ?? {}) as {
    error?: { code?: unknown; message?: unknown; details?: unknown };
  };
  const { status } = response;
  const isOurs = typeof error?.code === 'string' && typeof error.message === 'string';
  return new ClientError(
    isOurs ? String(error.code) : 'unreachable',
    isOurs
      ? String(error.message)
      : `The answer has status ${status} and is not a gateway's. Check the URL and the proxy.`,
    {
      status,
      details: error?.details,
      requestId: response.headers.get('x-request-id') ?? undefined,
      retryAfterMs: retryAfterMs(response.headers.get('retry-after')),
    },
  );
}

/** A gateway says seconds. Proxies may name a date. */
function retryAfterMs(text: string | null): number | undefined {
  if (text === null) return undefined;
  const seconds = Number(text);
  const ms = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1_000;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
