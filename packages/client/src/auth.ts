import { ClientError } from './client-error.ts';

/**
 * Who the client is: a secret key (on servers only), an entity's token, the session of a signed-in browser, or none of these. A token as a
 * function is asked for when it is needed, kept, and asked for again once the gateway refuses it.
 */
export type Auth =
  | { readonly key: string }
  | { readonly token: string | (() => string | Promise<string>) }
  | 'session'
  | 'none';

export interface Credentials {
  headers(signal?: AbortSignal | null): Promise<Headers>;
  /** Forgets these headers, which were refused. False if there is nothing else to show. */
  renew(refused: Headers): boolean;
}

type Headers = Readonly<Record<string, string>>;

export function toCredentials(auth: Auth): Credentials {
  if (auth === 'session' || auth === 'none') return { headers: async () => ({}), renew: () => false };
  const secret = secretOf(auth);
  if (typeof secret === 'string') return { headers: async () => bearer(secret), renew: () => false };
  let known: Promise<Headers> | undefined;
  let shown: Headers | undefined;
  const ask = async (): Promise<Headers> => {
    try {
      return bearer(await secret());
    } catch (error) {
      throw tokenFailed(error);
    }
  };
  return {
    async headers(signal) {
      known ??= ask();
      const current = known;
      try {
        const headers = await untilAborted(current, signal);
        if (known === current) shown = headers;
        return headers;
      } catch (error) {
        // A caller who stopped waiting does not take the token from others.
        if (known === current && error !== signal?.reason) known = undefined;
        throw error;
      }
    },
    renew(refused) {
      // Many requests may be refused for the same token: only the first asks for a new one.
      if (refused === shown) [known, shown] = [undefined, undefined];
      return true;
    },
  };
}

/** A token function may never answer, e.g. while its own server is down. */
function untilAborted<T>(token: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (signal == null) return token;
  return new Promise((resolve, reject) => {
    const end = (): void => {
      const { reason } = signal;
      reject((reason as Partial<Error> | undefined)?.name === 'TimeoutError' ? tokenMissing(reason) : reason);
    };
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
    void token.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}

function tokenMissing(cause: unknown): ClientError {
  return new ClientError('unreachable', 'The token function of the client did not answer in time.', { cause });
}

/** A server of tokens that is down may come back. With a `ClientError`, the function says that waiting does not help. */
function tokenFailed(cause: unknown): ClientError {
  if (cause instanceof ClientError) return cause;
  const what = cause instanceof Error ? cause.message : String(cause);
  return new ClientError('unreachable', `The token function of the client failed: ${what}`, { cause });
}

type Secret = string | (() => string | Promise<string>);

/** Without this check each request of a client whose key is undefined would fail as if the gateway did not answer. */
function secretOf(auth: Exclude<Auth, string>): Secret {
  const { key, token }: { readonly key?: Secret; readonly token?: Secret } = Object(auth);
  const secret = key ?? token;
  if (typeof secret === 'string' || typeof secret === 'function') return secret;
  throw new TypeError(
    `The auth of a client must be { key: '…' }, { token: '…' }, 'session' or 'none'. A key from the environment is undefined if its variable is not set.`,
  );
}

function bearer(secret: string): Headers {
  return { authorization: `Bearer ${secret}` };
}
