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
  headers(): Promise<Record<string, string>>;
  /** Forgets what was refused. False if there is nothing else to show. */
  renew(): boolean;
}

export function toCredentials(auth: Auth): Credentials {
  if (typeof auth === 'string') return { headers: async () => ({}), renew: () => false };
  const secret = 'key' in auth ? auth.key : auth.token;
  if (typeof secret === 'string') return { headers: async () => bearer(secret), renew: () => false };
  let known: Promise<string> | undefined;
  return {
    async headers() {
      known ??= Promise.resolve(secret());
      const current = known;
      try {
        return bearer(await current);
      } catch (error) {
        if (known === current) known = undefined;
        throw error;
      }
    },
    renew() {
      known = undefined;
      return true;
    },
  };
}

function bearer(secret: string): Record<string, string> {
  return { authorization: `Bearer ${secret}` };
}
