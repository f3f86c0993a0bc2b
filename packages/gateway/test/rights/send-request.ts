type Headers = Readonly<Record<string, string>>;

export interface SentRequest {
  /** `GET /api/agents`. */
  readonly operation: string;
  /** Default: that of the operation. */
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Headers;
}

/** Sends a request of the table. Aborting `leaving` ends a stream. */
export async function sendRequest(
  url: string,
  { operation, path, body, headers = {} }: SentRequest,
  credentials: Headers,
): Promise<{ readonly answer: Response; readonly isStream: boolean; readonly leaving: AbortController }> {
  const [method = '', template = ''] = operation.split(' ');
  const leaving = new AbortController();
  const answer = await fetch(`${url}${path ?? template}`, {
    method,
    signal: leaving.signal,
    headers: {
      ...credentials,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { answer, leaving, isStream: answer.headers.get('content-type') === 'text/event-stream' };
}
