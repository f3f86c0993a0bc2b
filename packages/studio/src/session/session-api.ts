import { ClientError } from '@lastcall/client';

/** Who is signed in, and what they may do. */
export interface Session {
  readonly scopes: readonly ('admin' | 'write' | 'read')[];
  /** The person whose name answers and messages carry. */
  readonly entity?: { readonly id: string; readonly displayName: string } | undefined;
  readonly expiresAt: number;
}

/** Undefined if nobody is signed in. */
export async function readSession(): Promise<Session | undefined> {
  const response = await fetch('/api/session', { credentials: 'same-origin' });
  return response.status === 401 ? undefined : ((await checked(response)) as Session);
}

export async function signIn(proof: { code: string } | { key: string; entityId?: string }): Promise<Session> {
  return (await checked(await send('POST', proof))) as Session;
}

/** Changes for whom an operator acts. */
export async function actAs(entityId: string): Promise<Session> {
  return (await checked(await send('PATCH', { entityId }))) as Session;
}

export async function signOut(): Promise<void> {
  await checked(await send('DELETE'));
}

function send(method: string, body?: object): Promise<Response> {
  return fetch('/api/session', {
    method,
    credentials: 'same-origin',
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
}

async function checked(response: Response): Promise<unknown> {
  const body = (await response.json().catch(() => ({}))) as { error?: { code: string; message: string } };
  if (response.ok) return body;
  throw new ClientError(body.error?.code ?? 'unreachable', body.error?.message ?? 'The gateway does not answer.', {
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? undefined,
  });
}
