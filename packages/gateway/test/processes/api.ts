export const SECRET_KEY = 'sk_test_of_real_processes';

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect to be there.
  readonly body: any;
}

/** A request with the secret key. Rejects without a response in time: a frozen process accepts connections, but sends nothing. */
export async function request(
  url: string,
  path: string,
  { body, timeoutMs = 20_000 }: { body?: object; timeoutMs?: number } = {},
): Promise<ApiAnswer> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${SECRET_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/**
 * A request that has to succeed. It is repeated if the gateway says that nothing was changed: a process that gets no processor for
 * seconds loses its transactions to the database's timeouts, and says so.
 */
export async function ask(url: string, path: string, body?: object): Promise<ApiAnswer['body']> {
  for (let tries = 1; ; tries++) {
    const answer = await request(url, path, body === undefined ? {} : { body });
    if (answer.status < 300) return answer.body;
    const isUnchanged = answer.status === 503 && String(answer.body.error?.message).includes('Nothing was changed');
    if (!isUnchanged || tries === 10) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}
